//! Parameters of `play`.

use cwm_contract::{ParameterError, Parameters, Type, Values, parameters};

use crate::engine::Rules;
use crate::seed::Seed;
use crate::weighted::Preference;

parameters! {
    /// Parameters of `play`. Those that belong to one policy are refused with the others.
    pub struct Config {
        /// Player: `engine` (games like people's: known openings, a shallow search, mistakes), `uniform` (random legal
        /// moves to the end of the game), or random moves with a preference: `long` (games that go on), `promotion`,
        /// `castling`, `en_passant`, `quiet` (no captures).
        pub policy: String, kind = Type::Choice(&["engine", "uniform", "long", "promotion", "castling", "en_passant", "quiet"]),
        /// Number of games to play.
        pub games: u64, kind = Type::Integer { min: 1, max: i64::MAX as i128 },
        /// Seed of the random numbers: an integer of any size; beyond 128 bits, its digits in quotes.
        pub seed: Seed = Seed::zero(),
        /// For `uniform`: `authors` (the default) draws as the authors' program does, all games from one Mersenne
        /// Twister, one after the other; `parallel` gives each game a stream of its own and uses all cores.
        pub generator: Option<String> = None, kind = Type::Optional(Box::new(Type::Choice(&["authors", "parallel"]))),
        /// For `engine`: the number of plies that a player searches before it follows captures; 2 by default. Each
        /// further ply makes games several times slower.
        pub depth: Option<u32> = None, kind = Type::Optional(Box::new(Type::Integer { min: 1, max: 4 })),
        /// For `engine`: for a player rated 1500, a move that is this many centipawns worse than the best is half as
        /// likely; 12 by default.
        pub temperature: Option<u32> = None, kind = Type::Optional(Box::new(Type::Integer { min: 1, max: 1_000 })),
        /// Number of plies after which an unfinished game ends. For `engine` it is adjudicated; 240 by default. For
        /// policies with a preference its result is `*`; 600 by default for `long`, no limit for the others.
        pub max_plies: Option<u32> = None, kind = Type::Optional(Box::new(Type::Integer { min: 1, max: 10_000 })),
    }
}

/// The choice of moves.
#[derive(Clone, Debug)]
pub enum Policy {
    /// Games like people's.
    Engine(Rules),
    /// Random legal moves from the authors' single stream of random numbers.
    UniformAuthors,
    /// Random legal moves, a stream for each game.
    UniformParallel,
    /// Random moves with a preference, of at most so many plies.
    Weighted(Preference, Option<u32>),
}

impl Config {
    /// The policy with its own parameters.
    pub fn policy(&self) -> Policy {
        if let Some(preference) = Preference::ALL.into_iter().find(|preference| preference.name() == self.policy) {
            return Policy::Weighted(preference, self.max_plies.or(preference.default_max_plies()));
        }
        match (self.policy.as_str(), self.generator.as_deref()) {
            ("engine", _) => Policy::Engine(Rules {
                depth: self.depth.unwrap_or(2),
                temperature: self.temperature.unwrap_or(12),
                max_plies: self.max_plies.unwrap_or(240),
            }),
            (_, Some("parallel")) => Policy::UniformParallel,
            _ => Policy::UniformAuthors,
        }
    }
}

/// Returns the faults of well-typed parameters: a seed that is none, or parameters of another policy.
pub fn validate(values: &Values) -> Vec<ParameterError> {
    let config = match Config::read(values) {
        Ok(config) => config,
        Err(fault) => return vec![fault],
    };
    let (uniform, engine) = (["uniform"], ["engine"]);
    let limited: Vec<&str> = engine.into_iter().chain(Preference::ALL.map(Preference::name)).collect();
    let set: [(&str, &[&str], bool); 4] = [
        ("generator", &uniform, config.generator.is_some()),
        ("depth", &engine, config.depth.is_some()),
        ("temperature", &engine, config.temperature.is_some()),
        ("max_plies", &limited, config.max_plies.is_some()),
    ];
    set.into_iter()
        .filter(|(_, policies, set)| *set && !policies.contains(&config.policy.as_str()))
        .map(|(name, policies, _)| {
            let (policies, policy) = (policies.join(", "), &config.policy);
            ParameterError::new(
                name,
                format!("belongs to `policy: {policies}` and means nothing to `policy: {policy}`"),
            )
        })
        .collect()
}
