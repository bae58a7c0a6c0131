//! The options of an attempt at an action.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The beginning of the headings in a log.
const HEADING: &str = "--- attempt ";

/// The options of an attempt. They are not in the action file, which executors of other pipelines, with other limits, may share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptOptions {
    /// The number of the attempt in this run, from 1; 0 if no run requested it.
    pub attempt: u32,
    /// The most attempts that there may be.
    pub attempts: u32,
    /// The longest time that it may run; waiting for another process that does the same is not running.
    pub time: Option<Duration>,
    /// Bytes that its processes may hold together.
    pub memory: Option<u64>,
    /// True if the result is only compared with the recorded one, and nothing is changed.
    pub check: bool,
    /// The command that requested it, for those who wait for it: `cwm run paper.yaml, for model`.
    pub requested_by: String,
}

impl AttemptOptions {
    /// Returns the grace period between the request to stop an attempt that exceeded its time and its kill: a tenth of its time,
    /// but two seconds at least and a minute at most.
    pub fn grace(time: Duration) -> Duration {
        (time / 10).clamp(Duration::from_secs(2), Duration::from_secs(60))
    }

    /// Returns the line in the log before the output of an attempt, where there may be several.
    pub fn heading(&self) -> Option<String> {
        (self.attempts > 1).then(|| format!("{HEADING}{} of {} ---", self.attempt, self.attempts))
    }

    /// Returns true if a line of a log is such a heading.
    pub fn is_heading(line: &str) -> bool {
        line.starts_with(HEADING)
    }

    /// Returns these options as `cwm exec` takes them.
    pub fn option(&self) -> String {
        format!("--options={}", serde_json::to_string(self).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grace_is_a_tenth_of_the_time_within_bounds() {
        let grace = |seconds| AttemptOptions::grace(Duration::from_secs(seconds)).as_secs();
        assert_eq!([1, 100, 7200].map(grace), [2, 10, 60]);
    }
}
