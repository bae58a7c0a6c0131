//! One line an event, for logs, pipes and `--plain`.

use std::io::Write;
use std::path::Path;

use cwm_contract::amount;

use crate::events::collapsed_hits::{self, CollapsedHits};
use crate::events::failures::failures;
use crate::events::transfers;
use cwm_core::text::duration;
use cwm_core::{escape_controls_in_lines, list_some, plural, short_path};
use cwm_engine::{Estimate, TotalEstimate};
use cwm_engine::{EventSink, RunEvent};

/// Writes to the stream that it is given (standard error, in practice).
pub struct Plain<W: Write> {
    out: W,
    /// True if progress and each cached cell are shown.
    verbose: bool,
    cached: CollapsedHits,
}

/// So many cached cells in a row are listed; more are counted.
const FEW: usize = 20;

impl<W: Write> Plain<W> {
    /// A reader that writes to `out`; `verbose` also shows progress, and each cached cell.
    pub fn new(out: W, verbose: bool) -> Self {
        Plain { out, verbose, cached: CollapsedHits::new(FEW) }
    }
}

impl<W: Write> EventSink for Plain<W> {
    fn event(&mut self, event: &RunEvent) {
        let mut shown = match event {
            RunEvent::Cached { label, origin, .. } if !self.verbose => {
                self.cached.add(label, origin);
                return;
            }
            RunEvent::Progress { .. } | RunEvent::Doing { .. } if !self.verbose => return,
            _ => self.cached.take(),
        };
        shown.extend(lines(event, self.verbose));
        if !shown.is_empty() {
            // A closed pipe must not end the run.
            let _ = self.out.write_all((shown.join("\n") + "\n").as_bytes()).and_then(|()| self.out.flush());
        }
    }
}

/// The lines that people see for an event; the live terminal prints the same ones above its bars. What stages tell, and files
/// and logs hold, is made harmless for it.
pub fn lines(event: &RunEvent, verbose: bool) -> Vec<String> {
    unescaped_lines(event, verbose).iter().map(|line| escape_controls_in_lines(line)).collect()
}

fn unescaped_lines(event: &RunEvent, verbose: bool) -> Vec<String> {
    match event {
        RunEvent::Planned { .. } => Vec::new(),
        RunEvent::Warning { message } => vec![format!("warning: {message}")],
        RunEvent::Reading { path } => vec![format!("  reading  {} into the store", path.display())],
        RunEvent::Read { path, bytes: size, .. } => {
            vec![format!("  read     {}  ({})", path.display(), amount::format_bytes(*size))]
        }
        RunEvent::Cached { label, origin, .. } => vec![collapsed_hits::line(label, origin)],
        RunEvent::WouldRun { label, cause, uncertain, estimate } => {
            let verb = if *uncertain { "may run  " } else { "would run" };
            let mut lines = vec![format!("{verb}  {label}")];
            lines.extend(cause.iter().map(|line| format!("             {line}")));
            lines.extend(estimate.iter().map(|estimate| format!("             {}", cost(estimate))));
            lines
        }
        RunEvent::Started { label, cause, attempt, .. } => {
            let again = if *attempt > 1 { format!("  (attempt {attempt})") } else { String::new() };
            let mut lines = vec![format!("  running  {label}{again}")];
            lines.extend(cause.iter().map(|line| format!("             {line}")));
            lines
        }
        RunEvent::Submitted { job, labels, asks, found } => {
            let verb = if *found { "found    " } else { "submitted" };
            let cells = match &labels[..] {
                [only] => only.to_string(),
                [first, ..] => format!("{} of {}", plural(labels.len() as u64, "cell", "cells"), first.stage),
                [] => "nothing".to_owned(),
            };
            vec![format!("  {verb} job {job}: {cells}  ({asks})")]
        }
        RunEvent::Queue { pending, running, reasons } => {
            let why = reasons.iter().filter(|(reason, _)| !reason.is_empty());
            let why: Vec<String> = why.map(|(reason, count)| format!("{reason} {count}")).collect();
            let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join(", ")) };
            vec![format!("  queue     {pending} pending{why}, {running} running")]
        }
        RunEvent::Retrying { label, attempt, attempts, reason, wait_seconds, log_tail, log, .. } => {
            let next = format!("attempt {} of {attempts} follows in {}", attempt + 1, duration(*wait_seconds));
            let mut lines = vec![format!("  retrying {label}: {reason}; {next}")];
            lines.extend(end_of_log(log_tail, log));
            lines
        }
        RunEvent::Waiting { label, holder } => vec![format!("  waiting  {label}: {holder} has it")],
        RunEvent::Progress { label, done, total, unit } if verbose => vec![match total {
            Some(total) => format!("           {label}: {done} of {total} {unit}"),
            None => format!("           {label}: {done} {unit}"),
        }],
        RunEvent::Doing { label, what } if verbose => vec![format!("           {label}: {what}")],
        RunEvent::Progress { .. } | RunEvent::Doing { .. } => Vec::new(),
        RunEvent::Note { label, message } => vec![format!("  note     {label}: {message}")],
        RunEvent::Finished { label, seconds, bytes: size, note, .. } => {
            let note = note.as_ref().map(|note| format!(", {note}")).unwrap_or_default();
            vec![format!("  done     {label}  ({}, {}{note})", duration(*seconds), amount::format_bytes(*size))]
        }
        RunEvent::Failed { label, reason, hint, log_tail, log, .. } => {
            let mut lines = vec![format!("  FAILED   {label}: {reason}")];
            lines.extend(hint.iter().map(|hint| format!("             hint: {hint}")));
            lines.extend(log.iter().flat_map(|log| end_of_log(log_tail, log)));
            lines
        }
        RunEvent::Skipped { label, because } => vec![format!("  skipped  {label}: needs {because}")],
        RunEvent::Exported { source, path } => vec![format!("{source}: {}", short_path(path))],
        RunEvent::DrySummary { would_run, may_run, cached, would_fail, total } => {
            let costs = (total.estimated + total.unknown > 0).then(|| all_costs(total));
            let counts = format!("would run {would_run}, may run {may_run}, cached {cached}, would fail {would_fail}");
            costs.into_iter().chain([counts]).collect()
        }
        RunEvent::Watching { files } => {
            vec![format!("watching {} (Ctrl-C ends it)", plural(*files as u64, "file", "files"))]
        }
        RunEvent::Changed { paths } => {
            vec![format!("changed: {}", list_some(paths.iter().map(|path| short_path(path)), 4))]
        }
        RunEvent::Checked { label, seconds, differences, .. } if differences.is_empty() => {
            vec![format!("  same     {label}  ({})", duration(*seconds))]
        }
        RunEvent::Checked { label, seconds, differences, .. } => {
            let mut lines = vec![format!("  DIFFERS  {label}  ({})", duration(*seconds))];
            lines.extend(differences.iter().take(FEW).map(|difference| format!("             {difference}")));
            if differences.len() > FEW {
                lines.push(format!("             and {} more", differences.len() - FEW));
            }
            lines
        }
        RunEvent::CheckSummary { same, different, failed, skipped } => {
            vec![format!("same {same}, different {different}, failed {failed}, skipped {skipped}")]
        }
        RunEvent::Failures { failed, skipped, again } => failures(failed, skipped, again),
        RunEvent::Transferring { .. } | RunEvent::Transferred { .. } | RunEvent::TransferSummary { .. } => {
            transfers::lines(event)
        }
        RunEvent::Summary { ran, cached, failed, skipped } => {
            vec![format!("ran {ran}, cached {cached}, failed {failed}, skipped {skipped}")]
        }
    }
}

/// The last lines of a log, where there are any.
fn end_of_log(tail: &[String], log: &Path) -> Vec<String> {
    if tail.is_empty() {
        return Vec::new();
    }
    let count = plural(tail.len() as u64, "line", "lines");
    let heading = format!("             last {count} of its log ({}):", short_path(log));
    [heading].into_iter().chain(tail.iter().map(|line| format!("             | {line}"))).collect()
}

/// What a cell is likely to cost.
fn cost(estimate: &Estimate) -> String {
    format!(
        "about {}, {} of memory, {} of disk, by {} of its kind",
        duration(estimate.seconds),
        amount::format_bytes(estimate.memory_bytes),
        amount::format_bytes(estimate.disk_bytes),
        plural(estimate.runs, "earlier run", "earlier runs")
    )
}

/// Why cells have no estimate.
const UNKNOWN: &str = "no earlier run of the kind, or not how much is read, is known for";

/// What all cells together are likely to cost.
fn all_costs(total: &TotalEstimate) -> String {
    let unknown = plural(total.unknown as u64, "cell", "cells");
    let without = match (total.estimated, total.unknown) {
        (0, _) => return format!("what that takes cannot be told: {UNKNOWN} {unknown}"),
        (_, 0) => String::new(),
        _ => format!("; more for what cannot be told: {UNKNOWN} {unknown}"),
    };
    format!(
        "about {} on this machine, {} of disk, up to {} of memory a cell{without}",
        duration(total.seconds),
        amount::format_bytes(total.disk_bytes),
        amount::format_bytes(total.memory_bytes)
    )
}
