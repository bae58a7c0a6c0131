//! The table at the end of a run in which something failed.

use std::collections::{BTreeSet, HashMap};
use std::iter;

use cwm_contract::Label;

use crate::fold::{Entry, Group, fold};
use crate::output::columns;
use cwm_core::{duration, list_some, plural, short_path, shorten};
use cwm_engine::{FailedCell, SkippedCell};

/// The most skipped cells that are named for each failed one, or group of failed ones.
const MAX_NAMED: usize = 4;

/// The longest reason that is shown.
const MAX_REASON: usize = 160;

/// Returns a line for each failed cell, or each group of those that failed alike unless it is `verbose`; its log, or the first of
/// the group; the cells that were skipped because of it; and the command that retries them. `all` are the cells of the pipeline.
pub fn failures(
    failed: &[FailedCell],
    skipped: &[SkippedCell],
    retry_command: &str,
    all: &[Label],
    verbose: bool,
) -> Vec<String> {
    let entries = failed.iter().map(|cell| Entry {
        label: cell.label.clone(),
        lines: vec![one_line(&cell.reason), plural(cell.attempts.into(), "attempt", "attempts")],
        value: cell,
    });
    let groups = fold(entries.collect(), all, verbose);
    let row = |group: &Group<&FailedCell>| {
        let [each, in_all] = if group.values.len() > 1 { [" each", " in all"] } else { [""; 2] };
        let time = duration(group.values.iter().map(|cell| cell.seconds).sum());
        [group.name.clone(), format!("{}{each}", group.lines[1]), format!("{time}{in_all}"), group.lines[0].clone()]
    };
    let table = columns(groups.iter().map(row));
    // The numbers of the cells that were skipped because of each.
    let mut behind: HashMap<&Label, Vec<usize>> = HashMap::new();
    for (number, cell) in skipped.iter().enumerate() {
        let labels = iter::once(&cell.blocked_by).chain(&cell.failed_later);
        labels.for_each(|label| behind.entry(label).or_default().push(number));
    }
    let mut lines = vec![format!("{} failed:", plural(failed.len() as u64, "cell", "cells"))];
    for (Group { values, .. }, row) in groups.iter().zip(table.lines()) {
        lines.push(format!("  {row}"));
        let (is_group, log) = (values.len() > 1, values.iter().find_map(|cell| Some((cell, cell.log.as_deref()?))));
        let of = |cell: &FailedCell| if is_group { format!(" of {}", cell.label) } else { String::new() };
        lines.extend(log.map(|(cell, log)| format!("    log{}: {}", of(cell), short_path(log))));
        let numbers: BTreeSet<usize> =
            values.iter().filter_map(|cell| behind.get(&cell.label)).flatten().copied().collect();
        if !numbers.is_empty() {
            let them = if is_group { "them" } else { "it" };
            let cells = list_some(numbers.iter().map(|&number| &skipped[number].label), MAX_NAMED);
            lines.push(format!("    skipped because of {them}: {cells}"));
        }
    }
    lines.push("to try again what is not done:".to_owned());
    lines.push(format!("  {retry_command}"));
    lines
}

/// Returns a reason without its line breaks, and not longer than a line or two.
fn one_line(reason: &str) -> String {
    shorten(&reason.split_whitespace().collect::<Vec<_>>().join(" "), MAX_REASON)
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
            key: None,
            kind: ActionFailureKind::Command,
            reason: reason.into(),
            hint: None,
            log_tail: Vec::new(),
            log: Some("/store/work/ab/log".into()),
            attempts,
            seconds,
        };
        let failed = [cell("b", 1, 0.25, "it did"), cell("model", 3, 700.0, "so\nit  did")];
        let skipped: Vec<_> = (0..7)
            .map(|seed| SkippedCell {
                label: label("test", Some(seed)),
                blocked_by: label("model", None),
                failed_later: if seed == 6 { vec![label("b", None)] } else { Vec::new() },
            })
            .collect();
        let expected = "\
2 cells failed:
  b      1 attempt   0.2s    it did
    log: /store/work/ab/log
    skipped because of it: test[seed=6]
  model  3 attempts  11m40s  so it did
    log: /store/work/ab/log
    skipped because of it: test[seed=0], test[seed=1], test[seed=2], test[seed=3] and 3 more
to try again what is not done:
  cwm run 'a b.yaml'";
        assert_eq!(failures(&failed, &skipped, "cwm run 'a b.yaml'", &[], false).join("\n"), expected);
    }

    #[test]
    fn cells_that_failed_alike_are_one_line() {
        let cell = |seed, reason: &str| FailedCell {
            label: label("model", Some(seed)),
            key: None,
            kind: ActionFailureKind::Command,
            reason: reason.into(),
            hint: None,
            log_tail: Vec::new(),
            log: Some(format!("/store/work/{seed}/log").into()),
            attempts: 1,
            seconds: 2.0,
        };
        let failed: Vec<_> = (0..150).map(|seed| cell(seed, if seed == 7 { "another" } else { "it did" })).collect();
        let skip = |seed| SkippedCell {
            label: label("test", Some(seed)),
            blocked_by: label("model", Some(seed)),
            failed_later: vec![],
        };
        let skipped: Vec<_> = (0..150).map(skip).collect();
        let all: Vec<_> = (0..200).map(|seed| label("model", Some(seed))).collect();
        let expected = "\
150 cells failed:
  model (149 of 200 cells)  1 attempt each  4m58s in all  it did
    log of model[seed=0]: /store/work/0/log
    skipped because of them: test[seed=0], test[seed=1], test[seed=2], test[seed=3] and 145 more
  model[seed=7]             1 attempt       2.0s          another
    log: /store/work/7/log
    skipped because of it: test[seed=7]
to try again what is not done:
  cwm run";
        assert_eq!(failures(&failed, &skipped, "cwm run", &all, false).join("\n"), expected);
        assert_eq!(failures(&failed, &skipped, "cwm run", &all, true).len(), 1 + 3 * 150 + 2, "each by itself");
    }
}
