//! Parameters of `encode`.

use cwm_contract::{ParameterError, Type, parameters};

use crate::forms::{self, Encoder};

parameters! {
    /// What is written.
    pub struct Config {
        /// Form of the sequences: `board`, `prompt`, `characters`, `moves` or `words`.
        pub form: String,
        /// Of `words`: a row is a game (`games`), or a part of the stream of all games (`blocks`).
        pub packing: String = GAMES.into(), kind = Type::Choice(&[GAMES, BLOCKS]),
        /// Of `packing: games`: tokens of a row, at most; longer games are cut.
        pub max_tokens: usize = 512, kind = Type::Integer { min: 2, max: 65_535 },
        /// Of `packing: blocks`: tokens of a row.
        pub block_tokens: usize = 512, kind = Type::Integer { min: 2, max: 65_535 },
        /// Of `packing: blocks`: games that are joined and cut into blocks together; what is left of them is dropped.
        pub chunk_games: usize = 1_000, kind = Type::Integer { min: 1, max: 1_000_000 },
    }
}

/// The values of `packing`.
const GAMES: &str = "games";
const BLOCKS: &str = "blocks";

impl Config {
    /// True if rows are blocks of joined games.
    pub fn has_blocks(&self) -> bool {
        self.packing == BLOCKS
    }

    /// Parameters without effect with these values.
    pub fn unused_parameters(&self) -> Vec<&'static str> {
        let is_packed = forms::find(&self.form).is_ok_and(|form| matches!(form.encoder, Encoder::Games(_)));
        match (is_packed, self.has_blocks()) {
            (false, _) => vec!["packing", "max_tokens", "block_tokens", "chunk_games"],
            (true, false) => vec!["block_tokens", "chunk_games"],
            (true, true) => vec!["max_tokens"],
        }
    }

    /// Returns the faults of these values beyond their types.
    pub fn faults(&self) -> Vec<ParameterError> {
        forms::find(&self.form).err().map(|unknown| ParameterError::new("form", unknown)).into_iter().collect()
    }
}
