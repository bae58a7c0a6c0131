//! Description of numbers measured inside models.

use std::collections::BTreeMap;
use std::path::Path;

use cwm_contract::{Description, Failure};
use cwm_findings::{Finding, read};
use serde_json::{Value, json};

use crate::facts;
use crate::format::{counted, escape_controls, line};

/// Lines shown; the rest is counted.
const SHOWN: usize = 10;

/// Characters of a name, model or network that are shown.
const LONGEST: usize = 80;

/// Describes a file of format `findings`: a line each.
pub fn findings(path: &Path) -> Result<Description, Failure> {
    let findings = read(path)?;
    let mut lines: Vec<String> = findings.iter().take(SHOWN).map(row).collect::<Result<_, _>>()?;
    if let Some(more) = findings.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        lines.push(line("", format!("and {}", counted(more as u64, "more finding"))));
    }
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    for finding in &findings {
        *kinds.entry(kind(finding)?).or_default() += 1;
    }
    Ok(Description { lines, facts: json!({ "findings": findings.len(), "kinds": kinds }) })
}

fn kind(finding: &Finding) -> Result<String, Failure> {
    match facts(&finding.kind)? {
        Value::String(kind) => Ok(kind),
        _ => Err(Failure::internal("a kind of findings is no text")),
    }
}

fn row(finding: &Finding) -> Result<String, Failure> {
    let layer = finding.layer.map(|layer| format!(", layer {layer}")).unwrap_or_default();
    let names: String = finding.names.iter().map(|(name, text)| format!(", {name} {text}")).collect();
    let values: Vec<String> = finding.values.iter().map(|(name, value)| format!("{name} {value:.4}")).collect();
    let of = format!("{} {}{layer}{names}", finding.model, finding.network);
    let (of, values) = (escape_controls(&of, LONGEST), escape_controls(&values.join(", "), LONGEST));
    Ok(line(&kind(finding)?, format!("{of}: {values}")))
}
