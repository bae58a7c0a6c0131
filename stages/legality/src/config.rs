//! Parameters of `legality`.

use cwm_contract::{ParameterError, Type, parameters};
use cwm_models::{Precision, families};

parameters! {
    /// Parameters of `legality`: the games that are read, and the settings.
    pub struct Config {
        /// The family that the checkpoint must have. If it is given, the result depends on the code of that family only.
        pub family: Option<String> = None,
        /// Number of games, the first ones; by default all.
        pub games: Option<u64> = None, kind = Type::Optional(Box::new(Type::Integer { min: 1, max: 1 << 32 })),
        /// Games of more tokens are dropped and counted, like those that are longer than the model reads.
        pub max_game_tokens: Option<u64> = None, kind = Type::Optional(Box::new(Type::Integer { min: 1, max: 65_535 })),
        /// Games are cut after this many tokens; by default they are not.
        pub max_tokens: Option<u64> = None, kind = Type::Optional(Box::new(Type::Integer { min: 1, max: 65_535 })),
        /// Number of games, the first ones that are read, in which the model also answers with a whole move at every ply: origin,
        /// target and piece, each the likeliest after its own ones before.
        pub move_games: u64 = 100,
        /// Resamples of games behind each interval.
        pub resamples: u64 = 1_000, kind = Type::Integer { min: 0, max: 1_000_000 },
        /// Seed of the resamples.
        pub seed: u64 = 0,
        /// Largest number of padded tokens in one pass through the model; games of similar length go together.
        pub batch_tokens: u64 = 2_048, kind = Type::Integer { min: 1, max: 1 << 30 },
        /// Type to which operands of matrix products are rounded, independent of the training: `fp32` (none), `tf32` or
        /// `bf16`.
        pub precision: String = "fp32".into(), kind = Type::Choice(Precision::NAMES),
    }
}

impl Config {
    /// Returns the faults of these values beyond their types.
    pub fn validate(&self) -> Vec<ParameterError> {
        let unknown = self.family.as_deref().and_then(|family| families::find(family).err());
        unknown.map(|error| ParameterError::new("family", format!("is unknown: {error}"))).into_iter().collect()
    }

    /// Returns the type to which operands of matrix products are rounded.
    pub fn precision(&self) -> Precision {
        Precision::named(&self.precision).unwrap_or_default()
    }
}
