//! Parameters of `questions`.

use cwm_contract::{ParameterError, Type, parameters};
use cwm_questions::Task;
use cwm_questions::build::Order;
use cwm_questions::truth::Keys;
use globset::{Glob, GlobMatcher};

parameters! {
    /// Which items are built.
    pub struct Config {
        /// The tasks, by name or by patterns such as `motifs_*`; by default all that the inputs allow. A task named without a pattern
        /// must get all its items.
        pub tasks: Vec<String> = Vec::new(),
        /// Items of a task, at most.
        pub per_task: u32 = 100, kind = Type::Integer { min: 1, max: 9_999 },
        /// Items of a task of Short Tactics by theme, at most.
        pub per_theme: u32 = 25, kind = Type::Integer { min: 1, max: 9_999 },
        /// Which puzzles, games and evaluated positions are taken: `shuffled`, drawn from all of them for each task by itself; `file`,
        /// the first that serve a task.
        pub order: String = "shuffled".into(), kind = Type::Choice(&["shuffled", "file"]),
        /// Seed of all draws.
        pub seed: i128 = 42,
        /// Lines of the evaluations with a value that are read, at most; nothing reads all.
        pub first: Option<u64> = Some(10_000), kind = Type::Optional(Box::new(Type::Integer { min: 1, max: 1 << 40 })),
        /// Where Structural (but state tracking) and Motifs take their positions.
        pub positions: String = "puzzles".into(), kind = Type::Choice(&["puzzles", "games"]),
        /// The keys: `published`, as the released program computes them; `sound`, as a chess player would (docs/fidelity/questions.md).
        pub keys: String = "published".into(), kind = Type::Choice(&["published", "sound"]),
    }
}

/// Which tasks are wanted.
pub struct Wanted {
    patterns: Vec<(String, GlobMatcher)>,
}

impl Wanted {
    /// Whether the task is wanted.
    pub fn has(&self, task: Task) -> bool {
        self.patterns.is_empty() || self.patterns.iter().any(|(_, glob)| glob.is_match(task.name()))
    }

    /// Whether the task is named, and not only by a pattern.
    pub fn names(&self, task: Task) -> bool {
        self.patterns.iter().any(|(pattern, _)| pattern == task.name())
    }
}

impl Config {
    /// The tasks that are wanted.
    ///
    /// # Errors
    ///
    /// A pattern cannot be read, or is that of no task.
    pub fn wanted(&self) -> Result<Wanted, ParameterError> {
        let read = |pattern: &String| {
            let wrong = |what: String| ParameterError::new("tasks", what);
            let glob = Glob::new(pattern).map_err(|error| wrong(format!("cannot be read: {error}")))?.compile_matcher();
            if Task::all().any(|task| glob.is_match(task.name())) {
                Ok((pattern.clone(), glob))
            } else {
                Err(wrong(format!("has `{pattern}`, which is no task"))
                    .maybe_hint(Some("docs/formats.md lists the tasks".to_owned())))
            }
        };
        Ok(Wanted { patterns: self.tasks.iter().map(read).collect::<Result<_, _>>()? })
    }

    /// Items of a task, at most.
    pub fn items_of(&self, task: Task) -> usize {
        let count = if matches!(task, Task::Theme(_)) { self.per_theme } else { self.per_task };
        count as usize
    }

    /// Which rows are taken.
    pub fn order(&self) -> Order {
        if self.order == "file" { Order::File } else { Order::Shuffled }
    }

    /// Which keys are written.
    pub fn keys(&self) -> Keys {
        if self.keys == "sound" { Keys::Sound } else { Keys::Published }
    }

    /// The input that a task is built from.
    pub fn source(&self, task: Task) -> &'static str {
        match task {
            Task::StateTrackingShort | Task::StateTrackingMid | Task::StateTrackingLong => "games",
            Task::Rating(_) | Task::Theme(_) => "puzzles",
            Task::Judgement(_) => "evaluations",
            Task::Semantic(_) => "comments",
            _ if self.positions == "games" => "games",
            _ => "puzzles",
        }
    }
}
