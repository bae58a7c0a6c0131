//! The tasks that are wanted.

use std::fmt::Display;

use cwm_contract::ParameterError;
use cwm_questions::Task;
use cwm_reasoning::{JudgeTask, ReasoningTask};
use globset::{Glob, GlobMatcher};

/// The beginnings of the names of the tasks of Reasoning and of judges, and of patterns that match them.
const RESERVED_PREFIXES: [&str; 2] = ["reasoning_", "judge_"];

/// Returns the one of these with which a name or pattern begins.
fn reserved_prefix(name: &str) -> Option<&'static str> {
    RESERVED_PREFIXES.into_iter().find(|reserved_prefix| name.starts_with(reserved_prefix))
}

/// The tasks of the parameter `tasks`.
pub struct WantedTasks {
    patterns: Vec<(String, GlobMatcher)>,
}

impl WantedTasks {
    /// The tasks that these names and patterns match; with none, all of ChessQA.
    ///
    /// # Errors
    ///
    /// A pattern cannot be read, or is that of no task.
    pub fn new(patterns: &[String]) -> Result<WantedTasks, ParameterError> {
        let read = |pattern: &String| {
            let wrong = |what: String| ParameterError::new("tasks", what);
            let glob = Glob::new(pattern).map_err(|error| wrong(format!("cannot be read: {error}")))?.compile_matcher();
            let one = WantedTasks { patterns: vec![(pattern.clone(), glob)] };
            let is_of_reasoning = ReasoningTask::ALL.iter().any(|task| one.has(*task));
            let is_of_judges = JudgeTask::ALL.iter().any(|task| one.has(*task));
            if is_of_reasoning || is_of_judges || Task::all().any(|task| one.has(task)) {
                Ok(one.patterns)
            } else {
                Err(wrong(format!("has `{pattern}`, which is no task"))
                    .maybe_hint(Some("docs/formats.md lists the tasks".to_owned())))
            }
        };
        let patterns: Result<Vec<Vec<_>>, ParameterError> = patterns.iter().map(read).collect();
        Ok(WantedTasks { patterns: patterns?.concat() })
    }

    /// Returns true if the task is wanted. One of Reasoning needs positions of which every legal move has a value, and
    /// one of judges answers, so that `*` or no pattern at all is not enough.
    pub fn has(&self, task: impl Display) -> bool {
        let name = task.to_string();
        let own = reserved_prefix(&name);
        let matches = |(pattern, glob): &(String, GlobMatcher)| reserved_prefix(pattern) == own && glob.is_match(&name);
        (self.patterns.is_empty() && own.is_none()) || self.patterns.iter().any(matches)
    }

    /// Returns true if the task is named, and not only matched by a pattern.
    pub fn names(&self, task: impl Display) -> bool {
        let name = task.to_string();
        self.patterns.iter().any(|(pattern, _)| *pattern == name)
    }
}
