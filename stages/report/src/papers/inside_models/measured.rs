//! Findings with the cells that made them.

use std::collections::{BTreeMap, BTreeSet};

use cwm_contract::{Failure, GroupInput};
use cwm_findings::{Finding, Kind};
use cwm_page::escape_controls;

/// A finding.
pub(super) struct MeasuredFinding {
    /// The label of the pipeline's cell.
    pub(super) label: String,
    /// Its texts are safe to show.
    pub(super) finding: Finding,
}

/// Reads the findings of all files, in their order. If cells have several seeds, names of models include the seed; if
/// models of one name have several tasks, the task.
///
/// # Errors
/// A file is no file of findings.
pub(super) fn read(inputs: &[GroupInput]) -> Result<Vec<MeasuredFinding>, Failure> {
    let mut found = Vec::new();
    let seeds: BTreeSet<&str> = inputs.iter().filter_map(|input| input.label.coordinate("seed")).collect();
    for input in inputs {
        let label = escape_controls(&input.label.to_string());
        let seed = input.label.coordinate("seed").filter(|_| seeds.len() > 1);
        let seed = seed.map(|seed| format!(" (seed {})", escape_controls(seed))).unwrap_or_default();
        for mut finding in cwm_findings::read(&input.path)? {
            finding.model = escape_controls(&finding.model) + &seed;
            finding.network = escape_controls(&finding.network);
            finding.names.values_mut().for_each(|text| *text = escape_controls(text));
            found.push(MeasuredFinding { label: label.clone(), finding });
        }
    }
    name_tasks(&mut found);
    Ok(found)
}

/// Adds the task to the names of models that stand for several.
fn name_tasks(found: &mut [MeasuredFinding]) {
    let mut tasks: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for MeasuredFinding { finding, .. } in found.iter().filter(|one| !one.finding.named("task").is_empty()) {
        tasks.entry(finding.model.clone()).or_default().insert(finding.named("task").to_owned());
    }
    for MeasuredFinding { finding, .. } in found {
        if tasks.get(&finding.model).is_some_and(|tasks| tasks.len() > 1) && !finding.named("task").is_empty() {
            finding.model = format!("{} ({})", finding.model, finding.named("task"));
        }
    }
}

/// The findings of one kind.
pub(super) fn of_kind(found: &[MeasuredFinding], kind: Kind) -> impl Iterator<Item = &Finding> {
    found.iter().map(|measured| &measured.finding).filter(move |finding| finding.kind == kind)
}

/// Returns true if an edit's numbers are over all its cases, not over some plies, pieces or squares.
pub(super) fn is_over_all(finding: &Finding) -> bool {
    ["ply", "piece", "square"].iter().all(|part| finding.named(part).is_empty())
}

/// The different values of `key` in their first order.
pub(super) fn distinct<'a, K: PartialEq>(
    findings: impl IntoIterator<Item = &'a Finding>,
    key: impl Fn(&'a Finding) -> K,
) -> Vec<K> {
    let mut keys = Vec::new();
    for finding in findings {
        let key = key(finding);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}
