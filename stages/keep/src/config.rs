//! Parameters of `keep`.

use std::collections::BTreeMap;

use cwm_contract::{ParameterError, Type, parameters};
use cwm_reasoning::board::BoardForm;
use cwm_shares::FullmoveShares;

parameters! {
    /// Parameters of `keep`.
    pub struct Config {
        /// The least reward of an answer to `reasoning_predict_move`, up to 1 (the best move).
        pub predict: f64 = 0.7,
        /// The least reward of an answer to `reasoning_legal_moves`: moves that are right, of all that are right or answered.
        pub legal: f64 = 0.6,
        /// Keep so many answers, drawn by `seed`. By default all that pass.
        pub limit: Option<u64> = None, kind = Type::Optional(Box::new(Type::Integer { min: 1, max: 1 << 40 })),
        /// Shares of answers by the full-move number of their positions, such as `{"0-9": 0.1, "10-39": 0.75, "40-150":
        /// 0.15}`; needs a `limit`. A range with fewer answers is made up for by others.
        pub fullmoves: BTreeMap<String, f64> = BTreeMap::new(),
        /// The largest share that one kind of piece has of the answers to `reasoning_legal_moves`.
        pub largest_piece_share: f64 = 0.25,
        /// The notation of the position in examples of `guided` items.
        pub board: String = "uniform_visual".into(), kind = Type::Choice(&["visual", "uniform_visual", "fen", "spaced_fen"]),
        /// Seed of all draws.
        pub seed: i128 = 0,
    }
}

impl Config {
    /// Returns the faults of these values beyond their types.
    pub fn validate(&self) -> Vec<ParameterError> {
        let mut errors = Vec::new();
        let shares =
            [("predict", self.predict), ("legal", self.legal), ("largest_piece_share", self.largest_piece_share)];
        for (name, share) in shares.into_iter().filter(|(_, share)| !(0. ..=1.).contains(share)) {
            errors.push(ParameterError::new(name, format!("must be from 0 to 1, not {share}")));
        }
        if let Err(fault) = self.fullmove_shares() {
            errors.push(ParameterError::new("fullmoves", fault));
        }
        if self.limit.is_none() && !self.fullmoves.is_empty() {
            errors.push(ParameterError::new("fullmoves", "needs a `limit`, of which the ranges have shares"));
        }
        errors
    }

    /// The wanted shares of positions.
    ///
    /// # Errors
    /// They are no table.
    pub fn fullmove_shares(&self) -> Result<Option<FullmoveShares>, String> {
        (!self.fullmoves.is_empty()).then(|| FullmoveShares::of_map(&self.fullmoves)).transpose()
    }

    /// The form in which a position is written.
    pub fn board(&self) -> BoardForm {
        BoardForm::of_name(&self.board).unwrap_or(BoardForm::UniformVisual)
    }
}
