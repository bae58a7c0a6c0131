//! Parameters of `transpositions`.

use cwm_contract::{ParameterError, Type, parameters};

parameters! {
    /// The sequences that are compared, and the classes that are written.
    pub struct Config {
        /// The common part of the ends of two sequences of a class: `position` (pieces, side to move, castling rights, en
        /// passant square where a capture is legal) or `placement` (the pieces alone, as in the paper).
        pub same: String = "position".into(), kind = Type::Choice(&["position", PLACEMENT]),
        /// The sequences: every beginning of a game (`prefixes`), or whole games (`ends`). Of equal ones the first counts.
        pub sequences: String = PREFIXES.into(), kind = Type::Choice(&[PREFIXES, "ends"]),
        /// For `prefixes`: moves of a sequence, at least.
        pub min_plies: u32 = 2, kind = Type::Integer { min: 1, max: 65_535 },
        /// For `prefixes`: moves of a sequence, at most.
        pub max_plies: u32 = 60, kind = Type::Integer { min: 1, max: 65_535 },
        /// Number of games, the first ones; by default all.
        pub games: Option<u64> = None, kind = Type::Optional(Box::new(Type::Integer { min: 1, max: 1 << 32 })),
        /// Members of a class that are written, at most: the first ones by game.
        pub members: u64 = 8, kind = Type::Integer { min: 2, max: 1 << 32 },
        /// Classes that are written, at most: drawn from all, each equally likely.
        pub classes: u64 = 5_000, kind = Type::Integer { min: 1, max: (1 << 32) - 1 },
        /// Seed of the draw of classes.
        pub seed: u64 = 0,
    }
}

const PLACEMENT: &str = "placement";
const PREFIXES: &str = "prefixes";

impl Config {
    /// True if the pieces alone are compared.
    pub fn is_placement(&self) -> bool {
        self.same == PLACEMENT
    }

    /// Moves of a prefix, at least and at most; `None` if sequences are whole games.
    pub fn plies(&self) -> Option<[u32; 2]> {
        (self.sequences == PREFIXES).then_some([self.min_plies, self.max_plies])
    }

    /// Parameters without effect with these values.
    pub fn unused_parameters(&self) -> Vec<&'static str> {
        if self.plies().is_some() { Vec::new() } else { vec!["min_plies", "max_plies"] }
    }

    /// Returns the faults of these values beyond their types.
    pub fn validate(&self) -> Vec<ParameterError> {
        match self.plies() {
            Some([min, max]) if min > max => {
                vec![ParameterError::new("min_plies", format!("must be at most `max_plies`, {max}, not {min}"))]
            }
            _ => Vec::new(),
        }
    }
}
