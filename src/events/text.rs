//! The text of events for people. Plain lines and the live terminal show the same.

use std::fmt::Display;
use std::path::Path;

use cwm_contract::{Label, amount};

use crate::events::cells::CollapsedCells;
use crate::events::costs::total_cost;
use crate::events::failures::failures;
use crate::fold::fold_lines;
use crate::hints::with_options;
use cwm_core::{duration, escape_controls_in_lines, list_some, plural, shell_quote, short_path};
use cwm_engine::{Direction, FailedCell, RunEvent};

/// The most differences that a check lists.
const MAX_DIFFERENCES: usize = 20;

/// The most stages whose values a dry run lists.
const MAX_KNOWN: usize = 8;

/// The most missing objects that are listed.
const MAX_MISSING: usize = 50;

/// Formats events. Cells in a row that are alike become one line.
pub struct EventText {
    /// True if progress and each cache hit are shown.
    verbose: bool,
    /// The most groups of cache hits in a row that are listed.
    max_hits: usize,
    /// The cells of the pipeline.
    all: Vec<Label>,
    collapsed: CollapsedCells,
}

impl EventText {
    /// Makes a formatter that lists up to `max_hits` groups of cache hits in a row, or all hits if it is `verbose`.
    /// `all` are the cells of the pipeline.
    pub fn new(verbose: bool, max_hits: usize, all: Vec<Label>) -> Self {
        EventText { verbose, max_hits, all, collapsed: CollapsedCells::default() }
    }

    /// Returns the lines of an event, after those of the cells that were held before it. Control characters are escaped, since
    /// notes, files and logs may hold any.
    pub fn lines(&mut self, event: &RunEvent) -> Vec<String> {
        if self.collapsed.add(event) {
            return if self.verbose { self.take_collapsed() } else { Vec::new() };
        }
        let mut lines = match event {
            RunEvent::Progress { .. } | RunEvent::Activity { .. } if !self.verbose => return Vec::new(),
            // What stands between the cells of a group must not divide it.
            RunEvent::Warning { .. } => Vec::new(),
            _ => self.take_collapsed(),
        };
        lines.extend(text(event, self).iter().map(|line| escape_controls_in_lines(line)));
        lines
    }

    /// Returns the lines of the cells that were held since the last call.
    pub fn take_collapsed(&mut self) -> Vec<String> {
        let lines = self.collapsed.take_lines(self.max_hits, &self.all, self.verbose);
        lines.iter().map(|line| escape_controls_in_lines(line)).collect()
    }

    /// Returns the lines of skipped cells if no other event has followed them for a while.
    pub fn take_skipped(&mut self) -> Vec<String> {
        if self.collapsed.ends_with_skipped() { self.take_collapsed() } else { Vec::new() }
    }
}

fn text(event: &RunEvent, EventText { verbose, all, .. }: &EventText) -> Vec<String> {
    let head = match event {
        // Held, and shown with those that are alike; a plan is not shown.
        RunEvent::Planned { .. }
        | RunEvent::Cached { .. }
        | RunEvent::WouldRun { .. }
        | RunEvent::Skipped(_)
        | RunEvent::Exported { .. } => return Vec::new(),
        RunEvent::DrySummary { would_run, may_run, cached, would_fail, total, known, measure } => {
            let costs = total.estimated + total.unknown > 0;
            let costs = costs.then(|| total_cost(total));
            let known = (!known.is_empty()).then(|| format!("amount of work: {}", list_some(known, MAX_KNOWN)));
            let hint = measure.as_ref().map(|label| {
                let (cell, stage) = (shell_quote(&label.to_string()), &label.stage);
                with_options(&format!(
                    "hint: `cwm run {cell}` computes one cell of {stage}, from which others like it are estimated"
                ))
            });
            let counts = format!("would run {would_run}, may run {may_run}, cached {cached}, would fail {would_fail}");
            return costs.into_iter().chain(known).chain(hint).chain([counts]).collect();
        }
        RunEvent::Failures { failed, skipped, retry_command } => {
            return failures(failed, skipped, retry_command, all, *verbose);
        }
        RunEvent::Warning { message } => format!("warning: {}", with_options(message)),
        RunEvent::Reading { path } => format!("  reading  {} into the store", path.display()),
        RunEvent::Read { path, bytes, .. } => {
            format!("  read     {}  ({})", path.display(), amount::format_bytes(*bytes))
        }
        RunEvent::Started { label, cause, attempt, .. } => {
            let retry = if *attempt > 1 { format!("  (attempt {attempt})") } else { String::new() };
            let cause = if *verbose { cause.clone() } else { fold_lines(cause.clone()) };
            return block(format!("  running  {label}{retry}"), cause.iter().map(|line| with_options(line)));
        }
        RunEvent::Submitted { job, labels, request, adopted } => {
            let verb = if *adopted { "adopted  " } else { "submitted" };
            let cells = match &labels[..] {
                [only] => only.to_string(),
                [first, ..] => format!("{} of {}", plural(labels.len() as u64, "cell", "cells"), first.stage),
                [] => "nothing".to_owned(),
            };
            format!("  {verb} job {job}: {cells}  ({request})")
        }
        RunEvent::Queue { pending, running, reasons } => {
            let reasons = reasons.iter().filter(|(reason, _)| !reason.is_empty());
            let reasons: Vec<String> = reasons.map(|(reason, count)| format!("{reason} {count}")).collect();
            let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
            format!("  queue     {pending} pending{reasons}, {running} running")
        }
        RunEvent::Retrying { label, attempt, attempts, reason, wait_seconds, log_tail, log, .. } => {
            let next = format!("attempt {} of {attempts} follows in {}", attempt + 1, duration(*wait_seconds));
            return block(format!("  retrying {label}: {reason}; {next}"), end_of_log(log_tail, log));
        }
        RunEvent::Waiting { label, owner } => format!("  waiting  {label}: {owner} holds its lock"),
        RunEvent::Progress { label, done, total, unit } => {
            let total = total.map_or_else(String::new, |total| format!(" of {total}"));
            format!("           {label}: {done}{total} {unit}")
        }
        RunEvent::Activity { label, activity } => format!("           {label}: {activity}"),
        RunEvent::Note { label, message } => format!("  note     {label}: {message}"),
        RunEvent::Finished { label, seconds, bytes, note, .. } => {
            let note = note.as_ref().map(|note| format!(", {note}")).unwrap_or_default();
            format!("  done     {label}  ({}, {}{note})", duration(*seconds), amount::format_bytes(*bytes))
        }
        RunEvent::Failed(FailedCell { label, reason, hint, log_tail, log, .. }) => {
            let whole_log = || format!("`cwm log {}` prints all of its log", shell_quote(&label.to_string()));
            let hint = hint.clone().or_else(|| (!log_tail.is_empty()).then(whole_log));
            let hint = hint.into_iter().map(|hint| format!("hint: {}", with_options(&hint)));
            let log = log.iter().flat_map(|log| end_of_log(log_tail, log));
            return block(format!("  FAILED   {label}: {reason}"), hint.chain(log));
        }
        RunEvent::Watching { files } => {
            format!("watching {} (Ctrl-C ends it)", plural(*files as u64, "file", "files"))
        }
        RunEvent::Changed { paths } => format!("changed: {}", list_some(paths.iter().map(|path| short_path(path)), 4)),
        RunEvent::Checked { label, seconds, differences, .. } => {
            let verb = if differences.is_empty() { "same    " } else { "DIFFERS " };
            let head = format!("  {verb} {label}  ({})", duration(*seconds));
            return block(head, first_lines(differences, MAX_DIFFERENCES));
        }
        RunEvent::CheckSummary { same, different, failed, skipped } => {
            format!("same {same}, different {different}, failed {failed}, skipped {skipped}")
        }
        RunEvent::Transferring { label, direction, objects, bytes, .. } => {
            let files = plural(*objects, "file", "files");
            format!("  {}ing  {label}  ({files}, {})", verb(*direction), amount::format_bytes(*bytes))
        }
        RunEvent::Transferred { label, direction, objects, bytes, seconds, missing, .. } => {
            let outcome = match objects {
                0 if !missing.is_empty() => ": nothing".to_owned(),
                0 => "  (all of it was there)".to_owned(),
                _ => format!("  ({})", throughput(*objects, *bytes, *seconds)),
            };
            let head = format!("  {}ed   {label}{outcome}", verb(*direction));
            return block(head, first_lines(missing, MAX_MISSING));
        }
        RunEvent::TransferSummary { direction, results, objects, bytes, seconds, errors, missing, .. } => {
            let mut lines: Vec<String> =
                first_lines(errors, MAX_MISSING).iter().map(|fault| format!("error: {fault}")).collect();
            if !lines.is_empty() {
                lines.push("hint: `cwm remote list` shows the URLs; the same command tries again".to_owned());
            }
            let mut results = plural(*results as u64, "result", "results");
            results += &format!(": {}", throughput(*objects, *bytes, *seconds));
            if !missing.is_empty() {
                lines.push("missing:".to_owned());
                lines.extend(first_lines(missing, MAX_MISSING).iter().map(|line| format!("  {line}")));
                results += &format!(", {} missing", missing.len());
            }
            lines.push(format!("{}ed {results}", verb(*direction)));
            return lines;
        }
        RunEvent::Summary { ran, cached, failed, skipped } => {
            format!("ran {ran}, cached {cached}, failed {failed}, skipped {skipped}")
        }
    };
    vec![head]
}

/// Returns a line with further lines below it.
pub fn block(head: String, details: impl IntoIterator<Item = String>) -> Vec<String> {
    let details = details.into_iter().map(|line| format!("             {line}"));
    [head].into_iter().chain(details).collect()
}

/// Returns a line for each of the first `max` items, and one with the number of the others.
fn first_lines<T: Display>(items: &[T], max: usize) -> Vec<String> {
    let others = items.len().saturating_sub(max);
    let others = (others > 0).then(|| format!("and {others} more"));
    items.iter().take(max).map(ToString::to_string).chain(others).collect()
}

/// Returns the last lines of a log with a heading.
fn end_of_log(tail: &[String], log: &Path) -> Vec<String> {
    let count = plural(tail.len() as u64, "line", "lines");
    let heading = (!tail.is_empty()).then(|| format!("last {count} of its log ({}):", short_path(log)));
    heading.into_iter().chain(tail.iter().map(|line| format!("| {line}"))).collect()
}

fn verb(direction: Direction) -> &'static str {
    match direction {
        Direction::Pull => "pull",
        Direction::Push => "push",
    }
}

/// Formats a transfer: `3 files, 5.0 MB, 2.1 s, 2.4 MB/s`.
fn throughput(objects: u64, bytes: u64, seconds: f64) -> String {
    let (files, size) = (plural(objects, "file", "files"), amount::format_bytes(bytes));
    let rate = match seconds > 0.1 && bytes > 0 {
        true => format!(", {}/s", amount::format_bytes((bytes as f64 / seconds) as u64)),
        false => String::new(),
    };
    format!("{files}, {size}, {}{rate}", duration(seconds))
}
