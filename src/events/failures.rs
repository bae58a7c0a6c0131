//! The table at the end of a run in which something failed.

use std::collections::BTreeMap;

use cwm_contract::Label;

use cwm_core::text::duration;
use cwm_core::{plural, short_path};
use cwm_engine::{FailedCell, SkippedCell};

/// How many skipped cells are named for each that failed.
const NAMED: usize = 4;

/// A line for each cell that failed, one for what was skipped because of each, and the command that tries them again.
pub fn failures(failed: &[FailedCell], skipped: &[SkippedCell], again: &str) -> Vec<String> {
    let mut lines = vec![format!("{} failed:", plural(failed.len() as u64, "stage", "stages"))];
    let label = |cell: &FailedCell| cell.label.to_string();
    let attempts = |cell: &FailedCell| plural(cell.attempts.into(), "attempt", "attempts");
    let log = |cell: &FailedCell| cell.log.as_deref().map(short_path).unwrap_or_default();
    let widest =
        |of: &dyn Fn(&FailedCell) -> String| failed.iter().map(|cell| of(cell).chars().count()).max().unwrap_or(0);
    let (labels, tries) = (widest(&label).min(60), widest(&attempts));
    let times = widest(&|cell| duration(cell.seconds));
    for cell in failed {
        let line = format!(
            "  {:labels$}  {:tries$}  {:>times$}  {}",
            label(cell),
            attempts(cell),
            duration(cell.seconds),
            one_line(&cell.reason)
        );
        lines.push(line.trim_end().to_owned());
        let skipped: Vec<_> = skipped.iter().filter(|other| is_behind(other, &cell.label)).collect();
        if !log(cell).is_empty() {
            lines.push(format!("    log: {}", log(cell)));
        }
        if !skipped.is_empty() {
            lines.push(format!("    skipped because of it: {}", named(&skipped)));
        }
    }
    lines.push("to try again what is not done:".to_owned());
    lines.push(format!("  {again}"));
    lines
}

/// Returns true if a cell was skipped because of this one, be it among others.
fn is_behind(skipped: &SkippedCell, failed: &Label) -> bool {
    skipped.because == *failed || skipped.also.contains(failed)
}

/// The first of them, and how many of which stages the others are.
fn named(skipped: &[&SkippedCell]) -> String {
    let mut names: Vec<String> = skipped.iter().take(NAMED).map(|cell| cell.label.to_string()).collect();
    let mut others: BTreeMap<&str, usize> = BTreeMap::new();
    for cell in skipped.iter().skip(NAMED) {
        *others.entry(&cell.label.stage).or_default() += 1;
    }
    names.extend(others.iter().map(|(stage, count)| format!("{count} more of {stage}")));
    names.join(", ")
}

/// A reason without its line breaks, not longer than a line or two.
fn one_line(reason: &str) -> String {
    const LONGEST: usize = 160;
    let line = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwm_action::ActionFailureKind;

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
