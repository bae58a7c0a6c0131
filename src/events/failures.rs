//! The table at the end of a run in which something failed.

use std::collections::BTreeMap;

use cwm_core::text::duration;
use cwm_core::{plural, short_path, shorten};
use cwm_engine::{FailedCell, SkippedCell};

/// The most skipped cells that are named for each failed one.
const MAX_NAMED: usize = 4;

/// The widest column that is aligned, and the longest reason that is shown.
const MAX_WIDTH: usize = 60;
const MAX_REASON: usize = 160;

/// Returns a line for each failed cell, its log, the cells that were skipped because of it, and the command `again` that retries them.
pub fn failures(failed: &[FailedCell], skipped: &[SkippedCell], again: &str) -> Vec<String> {
    let row = |cell: &FailedCell| {
        let attempts = plural(cell.attempts.into(), "attempt", "attempts");
        [cell.label.to_string(), attempts, duration(cell.seconds)]
    };
    let rows: Vec<[String; 3]> = failed.iter().map(row).collect();
    let widths = [0, 1, 2].map(|column| {
        let width = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        width.min(MAX_WIDTH)
    });
    let mut lines = vec![format!("{} failed:", plural(failed.len() as u64, "stage", "stages"))];
    for (cell, [label, attempts, time]) in failed.iter().zip(&rows) {
        let [labels, tries, times] = widths;
        let line = format!("  {label:labels$}  {attempts:tries$}  {time:>times$}  {}", one_line(&cell.reason));
        lines.push(line.trim_end().to_owned());
        lines.extend(cell.log.as_deref().map(|log| format!("    log: {}", short_path(log))));
        let is_behind = |other: &&SkippedCell| other.because == cell.label || other.also.contains(&cell.label);
        let behind: Vec<_> = skipped.iter().filter(is_behind).collect();
        if !behind.is_empty() {
            lines.push(format!("    skipped because of it: {}", names(&behind)));
        }
    }
    lines.push("to try again what is not done:".to_owned());
    lines.push(format!("  {again}"));
    lines
}

/// Names the first cells, and counts the others by stage.
fn names(cells: &[&SkippedCell]) -> String {
    let (named, others) = cells.split_at(cells.len().min(MAX_NAMED));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    others.iter().for_each(|cell| *counts.entry(&cell.label.stage).or_default() += 1);
    let named = named.iter().map(|cell| cell.label.to_string());
    named.chain(counts.iter().map(|(stage, count)| format!("{count} more of {stage}"))).collect::<Vec<_>>().join(", ")
}

/// Returns a reason without its line breaks, and not longer than a line or two.
fn one_line(reason: &str) -> String {
    shorten(&reason.split_whitespace().collect::<Vec<_>>().join(" "), MAX_REASON)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwm_action::ActionFailureKind;
    use cwm_contract::Label;

    fn label(stage: &str, seed: Option<usize>) -> Label {
        let coordinates = seed.map(|seed| ("seed".to_owned(), seed.to_string()));
        Label { stage: stage.into(), coordinates: coordinates.into_iter().collect() }
    }

    #[test]
    fn the_table_names_what_failed_and_what_was_skipped() {
        let cell = |stage: &str, attempts, seconds, reason: &str| FailedCell {
            label: label(stage, None),
            kind: ActionFailureKind::Command,
            reason: reason.into(),
            attempts,
            seconds,
            log: Some("/store/work/ab/log".into()),
        };
        let failed = [cell("b", 1, 0.25, "it did"), cell("model", 3, 700.0, "so\nit  did")];
        let skipped: Vec<_> = (0..7)
            .map(|seed| SkippedCell {
                label: label("test", Some(seed)),
                because: label("model", None),
                also: if seed == 6 { vec![label("b", None)] } else { Vec::new() },
            })
            .collect();
        let expected = "\
2 stages failed:
  b      1 attempt     0.2s  it did
    log: /store/work/ab/log
    skipped because of it: test[seed=6]
  model  3 attempts  11m40s  so it did
    log: /store/work/ab/log
    skipped because of it: test[seed=0], test[seed=1], test[seed=2], test[seed=3], 3 more of test
to try again what is not done:
  cwm run 'a b.yaml'";
        assert_eq!(failures(&failed, &skipped, "cwm run 'a b.yaml'").join("\n"), expected);
    }
}
