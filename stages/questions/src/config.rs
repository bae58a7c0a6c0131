//! Parameters of `questions`.

use std::collections::BTreeMap;

use cwm_contract::{ParameterError, Type, parameters};
use cwm_questions::build::Order;
use cwm_questions::truth::Keys;
use cwm_questions::{Distractors, Task};
use cwm_reasoning::board::BoardForm;
use cwm_reasoning::{ReasoningTask, TaskOptions};
use cwm_shares::FullmoveShares;

use crate::wanted::WantedTasks;

/// Parameters that affect items of Reasoning alone.
const OF_REASONING: [&str; 6] = ["fullmoves", "board", "threshold", "candidates", "min_moves", "legal_min"];

parameters! {
    /// The items that are built.
    pub struct Config {
        /// The tasks, by name or by patterns such as `motifs_*`; by default all of ChessQA that the inputs allow. Patterns that
        /// begin with `reasoning_` are of Reasoning, those with `judge_` of judges. A task named without a pattern must get all
        /// its items.
        pub tasks: Vec<String> = Vec::new(),
        /// Items of a task, at most; of judges, answers of each run and task of Reasoning.
        pub per_task: u32 = 100, kind = Type::Integer { min: 1, max: 9_999 },
        /// Items of a task of Short Tactics by theme, at most.
        pub per_theme: u32 = 25, kind = Type::Integer { min: 1, max: 9_999 },
        /// The choice of puzzles, games and evaluated positions: `shuffled`, drawn from all of them for each task by itself;
        /// `file`, the first that serve a task.
        pub order: String = "shuffled".into(), kind = Type::Choice(&["shuffled", "file"]),
        /// Seed of all draws.
        pub seed: i128 = 42,
        /// Lines of the evaluations with a value that are read for Position Judgement, at most; nothing reads all.
        pub first: Option<u64> = Some(10_000), kind = Type::Optional(Box::new(Type::Integer { min: 1, max: 1 << 40 })),
        /// The source of the positions of Structural (but state tracking) and Motifs.
        pub positions: String = "puzzles".into(), kind = Type::Choice(&["puzzles", "games"]),
        /// The keys: `published`, as the released program computes them; `sound`, as a chess player would
        /// (docs/fidelity/questions.md).
        pub keys: String = "published".into(), kind = Type::Choice(&["published", "sound"]),
        /// Reasoning: shares of a task's items by the full-move number of their positions, such as `{"0-9": 0.4, "10+": 0.6}`. Four
        /// times as many items as wanted are made; a range that has fewer than its share is made up for by the others. Positions
        /// in no range are dropped. By default positions are taken as they come.
        pub fullmoves: BTreeMap<String, f64> = BTreeMap::new(),
        /// Reasoning: how a position is written.
        pub board: String = BoardForm::Visual.name().into(), kind = Type::Choice(&["visual", "uniform_visual", "fen", "spaced_fen"]),
        /// Reasoning: candidates are worse than the best move by more than this win probability, or better than the worst.
        pub threshold: f64 = TaskOptions::default().threshold,
        /// Reasoning: the number of candidates, with the answer.
        pub candidates: u64 = 5, kind = Type::Integer { min: 2, max: 218 },
        /// Reasoning: the fewest legal moves of a position of `reasoning_predict_move`.
        pub min_moves: u64 = 3, kind = Type::Integer { min: 1, max: 218 },
        /// Reasoning: the fewest legal moves of a piece of `reasoning_legal_moves`.
        pub legal_min: u64 = 3, kind = Type::Integer { min: 1, max: 27 },
    }
}

impl Config {
    /// Parameters without effect with these values.
    pub fn unused_parameters(&self) -> Vec<&'static str> {
        // Results from before Reasoning keep their keys.
        let is_reasoning = self.wanted().is_ok_and(|wanted| ReasoningTask::ALL.iter().any(|task| wanted.has(*task)));
        if is_reasoning { Vec::new() } else { OF_REASONING.to_vec() }
    }

    /// Returns the faults of these values beyond their types.
    pub fn validate(&self) -> Vec<ParameterError> {
        let mut faults: Vec<ParameterError> = self.wanted().err().into_iter().collect();
        faults.extend(self.fullmove_shares().err());
        if !(0.0..=1.0).contains(&self.threshold) {
            faults.push(ParameterError::new("threshold", "must lie between 0 and 1"));
        }
        faults
    }

    /// The tasks that are wanted.
    ///
    /// # Errors
    ///
    /// A pattern cannot be read, or is that of no task.
    pub fn wanted(&self) -> Result<WantedTasks, ParameterError> {
        WantedTasks::new(&self.tasks)
    }

    /// The shares by full-move number; none where positions are taken as they come.
    ///
    /// # Errors
    ///
    /// They are no shares.
    pub fn fullmove_shares(&self) -> Result<Option<FullmoveShares>, ParameterError> {
        let shares = (!self.fullmoves.is_empty()).then(|| FullmoveShares::of_map(&self.fullmoves)).transpose();
        shares.map_err(|fault| ParameterError::new("fullmoves", fault))
    }

    /// Returns the options of items of Reasoning.
    pub fn task_options(&self) -> TaskOptions {
        TaskOptions {
            board: BoardForm::of_name(&self.board).unwrap_or(BoardForm::Visual),
            threshold: self.threshold,
            candidates: self.candidates as usize,
            min_moves: self.min_moves as usize,
            legal_min: self.legal_min as usize,
        }
    }

    /// Items of a task, at most.
    pub fn items_of(&self, task: Task) -> usize {
        let count = if matches!(task, Task::Theme(_)) { self.per_theme } else { self.per_task };
        count as usize
    }

    /// Returns the order in which rows are taken.
    pub fn order(&self) -> Order {
        if self.order == "file" { Order::File } else { Order::Shuffled }
    }

    /// Returns the kind of the keys that are written.
    pub fn keys(&self) -> Keys {
        if self.keys == "sound" { Keys::Sound } else { Keys::Published }
    }

    /// The input that a task is built from.
    pub fn source(&self, task: Task) -> &'static str {
        match task {
            Task::StateTrackingShort | Task::StateTrackingMid | Task::StateTrackingLong => "games",
            Task::Rating(_) | Task::Theme(_) => "puzzles",
            Task::Judgement(_) => "evaluations",
            Task::Semantic(Distractors::Embedding) => "embeddings",
            Task::Semantic(_) => "comments",
            _ if self.positions == "games" => "games",
            _ => "puzzles",
        }
    }
}
