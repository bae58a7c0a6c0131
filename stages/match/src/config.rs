//! Parameters of `match`.

use cwm_contract::{ParameterError, SourceFile, Type, parameters};
use cwm_uci::check_program;

use crate::kind::Kind;

/// The paper's number of attempts.
const PAPERS_ATTEMPTS: u32 = 5;

parameters! {
    /// The players, their openings, and the rules of their games.
    pub struct Config {
        /// The player whose score the results are: `model` or `other` (the inputs of these names), `random`, an engine at
        /// a level (`level:3`; `level:0-19` draws the level for each game), an engine at full strength (`nodes:1000`), or
        /// our own engine, that of `play`, so many plies deep (`depth:1`).
        pub first: Kind = Kind::Model,
        /// Its opponent, likewise.
        pub second: Kind,
        /// The program that plays `level` and `nodes`, such as /usr/games/stockfish (`apt-get install stockfish`); `depth:1`, our
        /// own engine, needs none. Its bytes are part of the key.
        pub engine: Option<SourceFile> = None,
        /// Number of games.
        pub games: u64, kind = Type::Integer { min: 2, max: 100_000_000 },
        /// `both` plays each opening twice, so that each player has White once; `first_white` plays each once.
        pub colours: String = "both".into(), kind = Type::Choice(&["both", "first_white"]),
        /// Plies of each opening, from the input `openings`. Without that input, or with 0, games begin at the initial
        /// position.
        pub opening_plies: u32 = 8, kind = Type::Integer { min: 0, max: 40 },
        /// The rule by which a model plays legal moves: `attempts` (an illegal answer costs one of `attempts`) or `mask` (it
        /// chooses among the legal moves).
        pub legality: String = "attempts".into(), kind = Type::Choice(&["attempts", "mask"]),
        /// The answers that a model may give to a position; if none is legal, it loses.
        pub attempts: u32 = PAPERS_ATTEMPTS, kind = Type::Integer { min: 1, max: 1_000 },
        /// Temperature at which a model's answers are sampled. Without it, attempt a (from 0) has min(a / 5 + 0.001, 0.5),
        /// so that the first is in effect the likeliest.
        pub temperature: Option<f64> = None,
        /// `avoid` lets a model choose no move that makes a position stand for the third time, while it has another.
        pub repetition: String = "allow".into(), kind = Type::Choice(&["allow", "avoid"]),
        /// Plies after which an unfinished game is a draw; those of the opening count.
        pub max_plies: u32 = 600, kind = Type::Integer { min: 1, max: 100_000 },
        /// Seed of openings, levels and moves. Each game has a random stream of its own.
        pub seed: u64 = 0,
    }
}

impl Config {
    /// Returns the faults of these values beyond their types.
    pub fn validate(&self) -> Vec<ParameterError> {
        let mut errors = Vec::new();
        if self.has_both_colours() && self.games % 2 == 1 {
            let message = format!("must be even, not {}: each opening is played with both colours", self.games);
            errors.push(ParameterError::new("games", message));
        }
        if self.max_plies <= self.opening_plies {
            let message = format!("must be above `opening_plies: {}`, not {}", self.opening_plies, self.max_plies);
            errors.push(ParameterError::new("max_plies", message));
        }
        if self.temperature.is_some_and(|temperature| !temperature.is_finite() || temperature <= 0.0) {
            errors.push(ParameterError::new("temperature", "must be a number above 0"));
        }
        match (self.find(Kind::needs_engine), &self.engine) {
            (Some((name, kind)), None) => {
                let message = format!(
                    "must be given for `{name}: {kind}`: a program that speaks UCI, such as /usr/games/stockfish (apt-get \
                     install stockfish)"
                );
                let hint = format!("without such a program, our own engine plays: `{name}: depth:1`");
                errors.push(ParameterError::new("engine", message).maybe_hint(Some(hint)));
            }
            // Whether it is there is checked where it is about to be read.
            (Some(_), Some(engine)) if engine.0.exists() => {
                if let Err(failure) = check_program(&engine.0) {
                    let message = format!("cannot be used: {}", failure.message);
                    errors.push(ParameterError::new("engine", message).maybe_hint(failure.hint));
                }
            }
            _ => {}
        }
        errors
    }

    /// Returns the parameters that have no effect given the others.
    pub fn unused_parameters(&self) -> Vec<&'static str> {
        let mut unused = Vec::new();
        if self.find(Kind::needs_engine).is_none() {
            unused.push("engine");
        }
        if !self.has_model() {
            unused.extend(["legality", "attempts", "temperature", "repetition"]);
        } else if self.has_mask() {
            unused.push("attempts");
        }
        unused
    }

    /// Checks that the models that play are the inputs that are given.
    pub fn check_inputs(&self, inputs: &[&str]) -> Option<String> {
        for (input, kind) in [("model", Kind::Model), ("other", Kind::Other)] {
            let player = self.find(|player| *player == kind);
            match (player, inputs.contains(&input)) {
                (Some((name, _)), false) => {
                    return Some(format!("needs the input `{input}`, since it has `{name}: {input}`"));
                }
                (None, true) => {
                    return Some(format!(
                        "has the input `{input}`, but neither player is `{input}`: `first: {}`, `second: {}`",
                        self.first, self.second
                    ));
                }
                _ => {}
            }
        }
        self.repeated_games(inputs.contains(&"openings"))
    }

    /// Returns the fault of a match that would repeat its games, as a phrase: engines that draw nothing by chance play
    /// one game from one position.
    fn repeated_games(&self, has_openings: bool) -> Option<String> {
        let draws_nothing = |kind: &Kind| matches!(kind, Kind::Nodes(_) | Kind::Depth(_));
        let different = if self.has_both_colours() { 2 } else { 1 };
        let is_repeated = draws_nothing(&self.first)
            && draws_nothing(&self.second)
            && (!has_openings || self.opening_plies == 0)
            && self.games > different;
        is_repeated.then(|| {
            format!(
                "has `games: {}`, and no more than {different} of them would differ: neither `{}` nor `{}` draws anything by \
                 chance, and all begin at the initial position; give the input `openings`, with `opening_plies` above 0",
                self.games, self.first, self.second
            )
        })
    }

    /// True if each opening is played with both colours.
    pub fn has_both_colours(&self) -> bool {
        self.colours == "both"
    }

    /// True if a model plays.
    pub fn has_model(&self) -> bool {
        self.find(|kind| matches!(kind, Kind::Model | Kind::Other)).is_some()
    }

    /// True if models choose among the legal moves alone.
    pub fn has_mask(&self) -> bool {
        self.legality == "mask"
    }

    /// `legality`; and where they are others than the paper's, the number of attempts and the temperature: `attempts 9`,
    /// `mask, temperature 0.5`.
    pub fn rule_of_moves(&self) -> String {
        let mut rule = self.legality.clone();
        if !self.has_mask() && self.attempts != PAPERS_ATTEMPTS {
            rule += &format!(" {}", self.attempts);
        }
        if let Some(temperature) = self.temperature {
            rule += &format!(", temperature {temperature}");
        }
        rule
    }

    /// Number of openings that are played.
    pub fn pairs(&self) -> u64 {
        if self.has_both_colours() { self.games / 2 } else { self.games }
    }

    /// The first player for which this is true, with the name of its parameter.
    fn find(&self, is_wanted: impl Fn(&Kind) -> bool) -> Option<(&'static str, Kind)> {
        [("first", self.first), ("second", self.second)].into_iter().find(|(_, kind)| is_wanted(kind))
    }
}
