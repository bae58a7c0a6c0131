//! Progress of long cells as lines of a log: a few for each cell, whatever it takes.

use std::collections::HashMap;
use std::time::Duration;

use cwm_contract::Label;
use cwm_core::duration;
use cwm_engine::{FailedCell, RunEvent};

/// The least time between two lines of a cell.
const MIN_INTERVAL: Duration = Duration::from_secs(30);

/// The time after which a cell has another line though it has not done a further tenth.
const MAX_INTERVAL: Duration = Duration::from_secs(600);

/// The progress of the cells that run.
#[derive(Default)]
pub struct ProgressLog(HashMap<Label, CellProgress>);

/// The progress of one cell in one unit.
struct CellProgress {
    unit: String,
    total: Option<u64>,
    /// The time of its first event, and what was done by then: a training may resume.
    first: (Duration, u64),
    /// The time of its last line, and what was done by then.
    last: (Duration, u64),
}

impl ProgressLog {
    /// Returns the line that an event is worth `now`, the time since the run began.
    pub fn line(&mut self, event: &RunEvent, now: Duration) -> Option<String> {
        let (label, done, total, unit) = match event {
            RunEvent::Progress { label, done, total, unit } => (label, *done, *total, unit),
            RunEvent::Started { label, .. }
            | RunEvent::Finished { label, .. }
            | RunEvent::Failed(FailedCell { label, .. }) => {
                self.0.remove(label);
                return None;
            }
            _ => return None,
        };
        let is_same = |cell: &&mut CellProgress| cell.unit == *unit && cell.total == total && cell.last.1 <= done;
        let Some(cell) = self.0.get_mut(label).filter(is_same) else {
            let cell = CellProgress { unit: unit.clone(), total, first: (now, done), last: (now, done) };
            self.0.insert(label.clone(), cell);
            return None;
        };
        if !is_due(now.saturating_sub(cell.last.0), cell.last.1, done, total) {
            return None;
        }
        cell.last = (now, done);
        let rate = (done - cell.first.1) as f64 / now.saturating_sub(cell.first.0).as_secs_f64();
        let rate_text = if rate < 10.0 { format!("{rate:.1}/s") } else { format!("{rate:.0}/s") };
        Some(match total.filter(|total| *total > 0) {
            Some(total) => {
                let (share, left) = (100 * done / total, duration(total.saturating_sub(done) as f64 / rate));
                format!("  progress {label}: {share} %, {done} of {total} {unit}, {rate_text}, about {left} left")
            }
            None => format!("  progress {label}: {done} {unit}, {rate_text}"),
        })
    }
}

/// True if a cell that had done `before` at its last line, so long ago, has a line for what is done now.
fn is_due(since: Duration, before: u64, done: u64, total: Option<u64>) -> bool {
    let tenth = |done: u64| total.map(|total| 10 * u128::from(done) / u128::from(total.max(1)));
    done > before && since >= MIN_INTERVAL && (since >= MAX_INTERVAL || tenth(done) > tenth(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_due_at_each_tenth_but_not_often_and_sooner_or_later_anyway() {
        let due = |seconds, before, done, total| is_due(Duration::from_secs(seconds), before, done, total);
        assert!(due(30, 0, 100, Some(1000)));
        assert!(!due(29, 0, 900, Some(1000)), "too soon");
        assert!(!due(500, 100, 199, Some(1000)), "no further tenth");
        assert!(due(600, 100, 101, Some(1000)), "after a long time");
        assert!(!due(9999, 100, 100, Some(1000)), "no progress");
        assert!(!due(500, 1, 1_000_000, None), "without a total no tenth is known");
        assert!(due(600, 1, 2, None));
        assert!(!due(30, 0, 0, Some(0)));
        assert!(due(30, 0, u64::MAX, Some(u64::MAX)));
    }

    #[test]
    fn a_long_training_has_a_few_lines_in_a_plain_log() {
        let label: Label = "model[seed=0]".parse().unwrap();
        let mut log = ProgressLog::default();
        let mut at = |seconds: u64, done| {
            let event =
                RunEvent::Progress { label: label.clone(), done, total: Some(20_000), unit: "steps".to_owned() };
            log.line(&event, Duration::from_secs(seconds))
        };
        // It resumes at 4,000 and does five a second.
        let lines: Vec<String> = (0..=3200).filter_map(|second| at(100 + second, 4_000 + 5 * second)).collect();
        assert_eq!(lines.len(), 8, "{lines:#?}");
        assert_eq!(lines[0], "  progress model[seed=0]: 30 %, 6000 of 20000 steps, 5.0/s, about 46m40s left");
        assert_eq!(lines[7], "  progress model[seed=0]: 100 %, 20000 of 20000 steps, 5.0/s, about 0.0s left");
        // The next attempt begins anew.
        assert_eq!(at(4000, 10_000), None);
        assert_eq!(at(4029, 19_000), None);
        assert!(at(4030, 19_000).unwrap().contains(" 95 %, 19000 of 20000 steps, 300/s, about 3.3s left"));
    }
}
