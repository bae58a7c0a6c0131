//! Parameters of `encode`.

use cwm_contract::{ParameterError, Type, parameters};

use crate::forms::{self, Encoder};

parameters! {
    /// Parameters of `encode`.
    pub struct Config {
        /// Form of the sequences: `board`, `prompt`, `characters`, `moves`, `words` or `speech`.
        pub form: String,
        /// For `words`: a row is a game (`games`), or a part of the stream of all games (`blocks`).
        pub packing: String = GAMES.into(), kind = Type::Choice(&[GAMES, BLOCKS]),
        /// For `packing: games`: tokens of a row, at most; longer games are cut. For `speech`: longer examples are dropped.
        pub max_tokens: usize = 512, kind = Type::Integer { min: 2, max: 65_535 },
        /// For `packing: blocks`: tokens of a row.
        pub block_tokens: usize = 512, kind = Type::Integer { min: 2, max: 65_535 },
        /// For `packing: blocks`: games that are joined and cut into blocks together; what is left of them is dropped.
        pub chunk_games: usize = 1_000, kind = Type::Integer { min: 1, max: 1_000_000 },
        /// For `speech`: a position is its 64 squares (`squares`), or its men with their squares (`pieces`): short where men are
        /// few.
        pub position: String = SQUARES.into(), kind = Type::Choice(&[SQUARES, PIECES]),
    }
}

/// The values of `packing`.
const GAMES: &str = "games";
const BLOCKS: &str = "blocks";

/// The values of `position`, by the names of the small language.
const SQUARES: &str = "squares";
const PIECES: &str = "pieces";

impl Config {
    /// True if rows are blocks of joined games.
    pub fn has_blocks(&self) -> bool {
        self.packing == BLOCKS
    }

    /// Parameters without effect with these values.
    pub fn unused_parameters(&self) -> Vec<&'static str> {
        match forms::find(&self.form).map(|form| form.encoder) {
            Ok(Encoder::Games(_)) if self.has_blocks() => vec!["max_tokens", "position"],
            Ok(Encoder::Games(_)) => vec!["block_tokens", "chunk_games", "position"],
            Ok(Encoder::Example(_)) => vec!["packing", "block_tokens", "chunk_games"],
            _ => vec!["packing", "max_tokens", "block_tokens", "chunk_games", "position"],
        }
    }

    /// Returns the faults of these values beyond their types.
    pub fn validate(&self) -> Vec<ParameterError> {
        forms::find(&self.form).err().map(|unknown| ParameterError::new("form", unknown)).into_iter().collect()
    }
}
