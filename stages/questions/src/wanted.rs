//! Which tasks are wanted.

use std::fmt::Display;

use cwm_contract::ParameterError;
use cwm_questions::Task;
use cwm_reasoning::ReasoningTask;
use globset::{Glob, GlobMatcher};

/// With what the names of the tasks of Reasoning begin, and patterns that match them.
const REASONING: &str = "reasoning_";

/// The tasks of the parameter `tasks`.
pub struct Wanted {
    patterns: Vec<(String, GlobMatcher)>,
}

impl Wanted {
    /// The tasks that these names and patterns match; with none, all of ChessQA.
    ///
    /// # Errors
    ///
    /// A pattern cannot be read, or is that of no task.
    pub fn new(patterns: &[String]) -> Result<Wanted, ParameterError> {
        let read = |pattern: &String| {
            let wrong = |what: String| ParameterError::new("tasks", what);
            let glob = Glob::new(pattern).map_err(|error| wrong(format!("cannot be read: {error}")))?.compile_matcher();
            let one = Wanted { patterns: vec![(pattern.clone(), glob)] };
            if Task::all().any(|task| one.has(task)) || ReasoningTask::ALL.iter().any(|task| one.has(*task)) {
                Ok(one.patterns)
            } else {
                Err(wrong(format!("has `{pattern}`, which is no task"))
                    .maybe_hint(Some("docs/formats.md lists the tasks".to_owned())))
            }
        };
        let patterns: Result<Vec<Vec<_>>, ParameterError> = patterns.iter().map(read).collect();
        Ok(Wanted { patterns: patterns?.concat() })
    }

    /// Whether the task is wanted. One of Reasoning needs positions of which every legal move has a value, so that `*` or no pattern at
    /// all is not enough.
    pub fn has(&self, task: impl Display) -> bool {
        let name = task.to_string();
        let is_reasoning = name.starts_with(REASONING);
        let matches = |(pattern, glob): &(String, GlobMatcher)| {
            pattern.starts_with(REASONING) == is_reasoning && glob.is_match(&name)
        };
        (self.patterns.is_empty() && !is_reasoning) || self.patterns.iter().any(matches)
    }

    /// Whether the task is named, and not only by a pattern.
    pub fn names(&self, task: impl Display) -> bool {
        let name = task.to_string();
        self.patterns.iter().any(|(pattern, _)| *pattern == name)
    }
}
