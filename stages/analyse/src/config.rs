//! Parameters of `analyse`.

use std::collections::BTreeMap;

use cwm_contract::{ParameterError, SourceFile, Type, parameters};
use cwm_uci::{Settings, check_program};

parameters! {
    /// The engine, its limit, and the positions that it is asked about.
    pub struct Config {
        /// A program that speaks UCI, such as /usr/games/stockfish (`apt-get install stockfish`). Its bytes are part of the key.
        /// Without one, our own engine finds the moves, that of `play`, which is weaker.
        pub engine: Option<SourceFile> = None,
        /// Plies that our own engine looks ahead before it follows captures, in place of `nodes`.
        pub depth: u32 = 2, kind = Type::Integer { min: 1, max: 4 },
        /// Nodes that the engine searches in each position.
        pub nodes: u64 = 1_000,
        /// More options of the engine by name. Threads, hash table and number of lines are fixed; options by which answers depend on
        /// chance or time, and those whose values are files, are refused.
        pub options: BTreeMap<String, String> = BTreeMap::new(),
        /// The side whose moves are asked for.
        pub side: String = "both".into(), kind = Type::Choice(&["both", "white", "black"]),
        /// Find puzzles as well: positions in which one move alone keeps an advantage that a mistake gave. Every position is then evaluated
        /// with two lines.
        pub puzzles: bool = false,
        /// Centipawns that the mistake before a puzzle gives away, that its solution is ahead, and by which it is better than any other move.
        pub margin: u32 = 200, kind = Type::Integer { min: 1, max: 10_000 },
        /// Plies from one position that is written to the next.
        pub every: u64 = 1,
        /// Plies at the beginning of each game that are left out.
        pub from_ply: u64 = 0,
        /// Evaluate the first so many games.
        pub limit: Option<u64> = None,
    }
}

impl Config {
    /// Parameters without effect with these values.
    pub fn unused_parameters(&self) -> Vec<&'static str> {
        let mut unused = if self.engine.is_some() { vec!["depth"] } else { vec!["nodes", "options"] };
        // Results from before these parameters existed keep their keys.
        if !self.puzzles {
            unused.extend(["puzzles", "margin"]);
        }
        if self.every == 1 {
            unused.push("every");
        }
        unused
    }

    /// Returns the faults of these values beyond their types.
    pub fn validate(&self) -> Vec<ParameterError> {
        let mut errors = Vec::new();
        if self.nodes == 0 {
            errors.push(ParameterError::new("nodes", "must be at least 1"));
        }
        if self.every == 0 {
            errors.push(ParameterError::new("every", "must be at least 1"));
        }
        if self.puzzles && self.side != "both" {
            errors.push(ParameterError::new("puzzles", "need the positions of both sides: `side: both`"));
        }
        if self.limit == Some(0) {
            errors.push(ParameterError::new("limit", "must be at least 1"));
        }
        if self.engine.is_none() && !self.options.is_empty() {
            errors.push(ParameterError::new("options", "need an `engine`"));
        }
        // Whether it is there is checked where it is about to be read.
        if let Some(engine) = &self.engine
            && let Some(Err(failure)) = engine.0.exists().then(|| check_program(&engine.0))
        {
            errors.push(
                ParameterError::new("engine", format!("cannot be used: {}", failure.message)).maybe_hint(failure.hint),
            );
        }
        let settings = Settings { options: self.options.clone(), ..Settings::default() };
        if let Err(failure) = settings.check() {
            errors.push(ParameterError::new("options", format!("cannot be used: {}", failure.message)));
        }
        errors
    }
}
