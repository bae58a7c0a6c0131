//! Cells of which a run shows only a state: cached, skipped, or what a dry run predicts. They are held until the next other event,
//! so that those which are alike become one line.

use std::path::PathBuf;

use cwm_contract::Label;
use cwm_core::{plural, short_path};
use cwm_engine::{Estimate, RunEvent, SkippedCell};

use super::costs::cost_of_cells;
use super::text::block;
use crate::fold::{Entry, Group, fold};
use crate::hints::with_options;

const CACHED: &str = "  cached   ";
const SKIPPED: &str = "  skipped  ";
const WOULD_RUN: &str = "would run  ";
const MAY_RUN: &str = "may run    ";
const EXPORTED: &str = "";

/// The longest reasons that share a line.
const MAX_LINE: usize = 80;

/// The details of a cell that are printed besides its state and its reasons.
#[derive(Default)]
struct EntryDetails {
    estimate: Option<Estimate>,
    /// The path of an export, whose folder is the reason.
    path: String,
}

/// Cells that are not shown yet.
#[derive(Default)]
pub struct CollapsedCells {
    entries: Vec<Entry<EntryDetails>>,
}

impl CollapsedCells {
    /// Holds the cell of an event. Returns false if the event is no state of a cell.
    pub fn add(&mut self, event: &RunEvent) -> bool {
        let nothing = EntryDetails::default();
        let (label, verb, details, shown) = match event {
            RunEvent::Cached { label, origin, .. } => (label, CACHED, vec![origin.clone()], nothing),
            RunEvent::Skipped(SkippedCell { label, blocked_by, .. }) => {
                (label, SKIPPED, vec![format!("needs {blocked_by}")], nothing)
            }
            RunEvent::Exported { source, path } => {
                // The folder that holds those of the cells of a matrix.
                let folder: PathBuf = path.iter().take_while(|part| !part.to_string_lossy().contains('=')).collect();
                let shown = EntryDetails { path: short_path(path), ..nothing };
                (&source.parse().unwrap_or_else(|_| Label::stage(source)), EXPORTED, vec![short_path(&folder)], shown)
            }
            RunEvent::WouldRun { label, cause, uncertain, estimate } => {
                let verb = if *uncertain { MAY_RUN } else { WOULD_RUN };
                (label, verb, cause.clone(), EntryDetails { estimate: *estimate, ..nothing })
            }
            _ => return false,
        };
        let details = details.iter().map(|line| with_options(line));
        let lines = [verb.to_owned()].into_iter().chain(details).collect();
        self.entries.push(Entry { label: label.clone(), lines, value: shown });
        true
    }

    /// Returns true if the last held cell is a skipped one.
    pub fn ends_with_skipped(&self) -> bool {
        self.entries.last().is_some_and(|entry| entry.lines[0] == SKIPPED)
    }

    /// Returns the lines of the cells since the last call: a line for each of up to `max_cached` groups of cached
    /// cells, or one for all. `all` are the cells of the pipeline.
    pub fn take_lines(&mut self, max_cached: usize, all: &[Label], verbose: bool) -> Vec<String> {
        let entries = std::mem::take(&mut self.entries);
        let (cached, others): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| entry.lines[0] == CACHED);
        // The cells of a stage come one after the other, except for those that waited for others.
        let stages = cached.chunk_by(|one, other| one.label.stage == other.label.stage).count();
        let cells = cached.len();
        let in_one_line = |name: &str, origin: &str| {
            let stages = plural(stages as u64, "stage", "stages");
            vec![format!("{CACHED}{cells} cells of {stages}, the first {name}  ({origin}); `-v` lists them")]
        };
        let mut lines = match cached.first() {
            // Each stage has a group or more, so there is no need to find them.
            Some(first) if stages > max_cached => in_one_line(&first.label.to_string(), &first.lines[1]),
            _ => match &fold(cached, all, verbose)[..] {
                groups @ [first, ..] if groups.len() > max_cached => in_one_line(&first.name, &first.lines[1]),
                groups => groups.iter().map(|group| format!("{CACHED}{}  ({})", group.name, group.lines[1])).collect(),
            },
        };
        fold(others, all, verbose).iter().for_each(|group| lines.extend(lines_of(group, verbose)));
        lines
    }
}

/// Returns the lines of cells that are alike: a single cell and its details, or a group with its details behind it
/// where they are short.
fn lines_of(Group { name, lines, values }: &Group<EntryDetails>, verbose: bool) -> Vec<String> {
    let (verb, details) = (&lines[0], &lines[1..]);
    let together = details.join("; ");
    let estimates: Vec<Option<Estimate>> = values.iter().map(|shown| shown.estimate).collect();
    let is_short = !verbose && together.chars().count() <= MAX_LINE;
    let (head, details) = match (&verb[..], &values[..]) {
        (EXPORTED, [one]) => (format!("{name}: {}", one.path), Vec::new()),
        (EXPORTED, _) => (format!("{name}: a folder each in {together}"), Vec::new()),
        (SKIPPED, _) => (format!("{verb}{name}: {together}"), Vec::new()),
        (_, [_, _, ..]) if is_short => (format!("{verb}{name}: {together}"), Vec::new()),
        _ if is_short && !together.is_empty() => (format!("{verb}{name}"), vec![together]),
        _ => (format!("{verb}{name}"), details.to_vec()),
    };
    block(head, details.into_iter().chain(cost_of_cells(&estimates)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn would_run(label: &str, cause: &[&str], seconds: Option<f64>) -> RunEvent {
        RunEvent::WouldRun {
            label: label.parse().unwrap(),
            cause: cause.iter().map(|&line| line.to_owned()).collect(),
            uncertain: false,
            estimate: seconds.map(|seconds| Estimate { seconds, memory_bytes: 1, disk_bytes: 2, runs: 3 }),
        }
    }

    fn lines_of(max_cached: usize, events: &[RunEvent]) -> String {
        let mut cells = CollapsedCells::default();
        events.iter().for_each(|event| assert!(cells.add(event)));
        let lines = cells.take_lines(max_cached, &[], false).join("\n");
        assert_eq!(cells.take_lines(max_cached, &[], false), [""; 0], "each is shown once");
        lines
    }

    fn cached(labels: &[&str]) -> Vec<RunEvent> {
        let origin = "ada@host, today";
        let event = |label: &&str| RunEvent::Cached {
            label: label.parse().unwrap(),
            key: "a".repeat(64).parse().unwrap(),
            origin: origin.to_owned(),
        };
        labels.iter().map(event).collect()
    }

    #[test]
    fn few_groups_are_shown_one_by_one_and_many_are_counted() {
        assert_eq!(lines_of(2, &[]), "");
        assert_eq!(
            lines_of(2, &cached(&["a", "b[x=1]", "b[x=2]", "b[x=3]"])),
            "  cached   a  (ada@host, today)\n  cached   b (3 cells)  (ada@host, today)"
        );
        assert_eq!(
            lines_of(1, &cached(&["a", "b[x=1]", "b[x=2]"])),
            "  cached   3 cells of 2 stages, the first a  (ada@host, today); `-v` lists them"
        );
    }

    #[test]
    fn a_group_of_a_dry_run_is_a_line_and_a_single_cell_has_its_reasons_below() {
        let events = [
            would_run("a", &["never ran"], None),
            would_run("m[x=1]", &["never ran", "depends on a"], Some(1.0)),
            would_run("m[x=2]", &["never ran", "depends on a"], Some(2.0)),
            would_run("m[x=3]", &["never ran", "depends on a"], None),
            would_run(
                "z",
                &["a long cause that fills half a line", "another one, which does not fit beside it in 80"],
                Some(1.0),
            ),
        ];
        let expected = "\
would run  a
             never ran
would run  m (3 cells): never ran; depends on a
             time, memory and disk unknown for 1 of them; for the other 2 about 3.0s one after the other, up to 1 B of memory each, 4 B of disk
would run  z
             a long cause that fills half a line
             another one, which does not fit beside it in 80
             about 1.0s, 1 B of memory, 2 B of disk, by 3 earlier runs of its kind";
        assert_eq!(lines_of(5, &events), expected);
    }
}
