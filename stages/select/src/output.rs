//! The two files (docs/formats.md, "choice" and "candidates").

use std::collections::BTreeMap;
use std::path::Path;

use cwm_contract::Failure;
use serde_json::{Value, json};

use crate::candidate::{Candidate, Validation};
use crate::ranking::Ranking;
use crate::scalar::Scalar;

/// Version of `choice`.
const FORMAT: u32 = 1;

/// Writes the choice for a family and a size.
///
/// # Errors
/// The file cannot be written.
pub fn write_choice(
    path: &Path,
    family: &str,
    size: &str,
    parameters: &BTreeMap<String, Scalar>,
) -> Result<(), Failure> {
    let choice = json!({ "format": FORMAT, "family": family, "size": size, "parameters": object(parameters) });
    write(path, [choice])
}

/// Writes all trainings, `chosen` being the place of the chosen one among the ranked and why it was.
///
/// # Errors
/// The file cannot be written.
pub fn write_candidates(path: &Path, ranking: &Ranking, chosen: Option<&(usize, String)>) -> Result<(), Failure> {
    let ranked = ranking.ranked.iter().enumerate().map(|(place, candidate)| {
        let why = chosen.filter(|(chosen, _)| *chosen == place).map(|(_, why)| why.as_str());
        line(candidate, Some(place + 1), why.is_some(), why)
    });
    let excluded = ranking.excluded.iter().map(|(candidate, why)| line(candidate, None, false, Some(why)));
    write(path, ranked.chain(excluded))
}

fn line(candidate: &Candidate, rank: Option<usize>, chosen: bool, why: Option<&str>) -> Value {
    let measured = |of: fn(&Validation) -> Option<f64>| candidate.validation.as_ref().and_then(of).map(number);
    json!({
        "rank": rank,
        "chosen": chosen,
        "why": why,
        "label": candidate.label.to_string(),
        "family": candidate.family,
        "size": candidate.size,
        "status": candidate.status,
        "parameters": object(&candidate.parameters),
        "settings": object(&candidate.settings),
        "loss": measured(|found| Some(found.loss)),
        "labelwise": measured(|found| found.labelwise),
        "exact": measured(|found| found.exact),
        "trajectory": measured(|found| found.trajectory),
        "steps": candidate.steps,
    })
}

fn object(parameters: &BTreeMap<String, Scalar>) -> Value {
    parameters.iter().map(|(name, value)| (name.clone(), value.json())).collect::<serde_json::Map<_, _>>().into()
}

/// JSON has no numbers that are not finite; they are text.
fn number(value: f64) -> Value {
    match value {
        _ if value.is_nan() => json!("nan"),
        f64::INFINITY => json!("inf"),
        f64::NEG_INFINITY => json!("-inf"),
        _ => json!(value),
    }
}

/// One object a line; serde_json keeps the keys of an object sorted.
fn write(path: &Path, lines: impl IntoIterator<Item = Value>) -> Result<(), Failure> {
    let text: String = lines.into_iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(path, text).map_err(|error| Failure::io("write", path, error))
}
