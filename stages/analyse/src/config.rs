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
        /// Plies at the beginning of each game that are left out.
        pub from_ply: u64 = 0,
        /// Evaluate the first so many games.
        pub limit: Option<u64> = None,
    }
}

impl Config {
    /// Parameters without effect with these values.
    pub fn unused_parameters(&self) -> Vec<&'static str> {
        if self.engine.is_some() { vec!["depth"] } else { vec!["nodes", "options"] }
    }

    /// Returns the faults of these values beyond their types.
    pub fn validate(&self) -> Vec<ParameterError> {
        let mut errors = Vec::new();
        if self.nodes == 0 {
            errors.push(ParameterError::new("nodes", "must be at least 1"));
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
