//! Parameters of `examples`.

use std::collections::BTreeMap;

use cwm_contract::{ParameterError, SourceFile, Type, parameters};
use cwm_reasoning::board::BoardForm;
use cwm_reasoning::{FactKind, GuidedMode, Wording};
use cwm_shares::{Distribution, FullmoveShares};
use cwm_uci::check_program;

/// The names of the builders.
const BUILDERS: &[&str] = &["best_move", "best_line", "factual", "verbalised", "guided"];

/// Plies of a program's search, and of our own engine's, where the pipeline does not have any.
const DEPTHS: (u8, u8) = (10, 2);

/// The most plies of our own engine.
const MOST_OWN_PLIES: u8 = 4;

/// The largest sum of the weights of all kinds.
const MAX_WEIGHT_SUM: usize = 1_000;

fn published_kinds() -> BTreeMap<String, usize> {
    FactKind::PUBLISHED.into_iter().map(|(kind, weight)| (kind.name().to_owned(), weight)).collect()
}

parameters! {
    /// Parameters of `examples`: the builder, and the positions that it gets.
    pub struct Config {
        /// The content of an example: `best_move`, the best move alone; `best_line`, some plies of best play and what they
        /// gain; `factual`, answers to questions about a board; `verbalised`, a small search in words; `guided`, items
        /// for a teacher, who explains a move (`keep` makes examples of its answers).
        pub builder: String, kind = Type::Choice(BUILDERS),
        /// Build so many examples, of positions drawn by `seed`. By default all positions are used, in their order.
        pub limit: Option<u64> = None, kind = Type::Optional(Box::new(Type::Integer { min: 1, max: 1 << 40 })),
        /// Shares of examples by the full-move number of their positions, such as `{"0-9": 0.15, "10-39": 0.75, "40+": 0.1}`.
        /// Positions in no such range are dropped. Without a `limit` as many examples are built as have these shares.
        pub fullmoves: BTreeMap<String, f64> = BTreeMap::new(),
        /// `balanced`: White is to move in half of the positions.
        pub sides: String = "as_it_comes".into(), kind = Type::Choice(&["as_it_comes", "balanced"]),
        /// The notation of a position.
        pub board: String = "uniform_visual".into(), kind = Type::Choice(&["visual", "uniform_visual", "fen", "spaced_fen"]),
        /// The weight of each kind of question of `factual`: questions are drawn without replacement from so many of
        /// each. `win_probability` and `which_of_two` need evaluations of all moves.
        pub kinds: BTreeMap<String, usize> = published_kinds(),
        /// A program that speaks UCI, such as /usr/games/stockfish (`apt-get install stockfish`), for `best_line`, `verbalised` and
        /// `guided`. Its bytes are part of the key. Without one, our own engine searches, that of `play`, which is weaker.
        pub engine: Option<SourceFile> = None,
        /// Plies of a search: of the engine for `best_line` (10 by default), of our own engine for all builders (2 by
        /// default, 4 at most).
        pub depth: Option<u8> = None, kind = Type::Optional(Box::new(Type::Integer { min: 1, max: 100 })),
        /// Nodes of each search of the engine for `verbalised`.
        pub nodes: u64 = 200_000,
        /// The phrases of `verbalised`: always the `plain` ones, or `varied`.
        pub wording: String = "varied".into(), kind = Type::Choice(&["plain", "varied"]),
        /// The moves that `guided` explains: the best, if its line gains something (`good`); one of the good ones
        /// (`reasonable`); one after which much changes (`blunder`).
        pub mode: String = "good".into(), kind = Type::Choice(&["good", "reasonable", "blunder"]),
        /// Seed of all draws.
        pub seed: i128 = 0,
    }
}

impl Config {
    /// Returns true if the builder searches.
    pub fn searches(&self) -> bool {
        matches!(self.builder.as_str(), "best_line" | "verbalised" | "guided")
    }

    /// Parameters without effect with these values.
    pub fn unused_parameters(&self) -> Vec<&'static str> {
        let (has_engine, verbalised) = (self.engine.is_some(), self.builder == "verbalised");
        let used_if = [
            ("kinds", self.builder == "factual"),
            ("engine", self.searches()),
            ("depth", self.builder == "best_line" || self.searches() && !has_engine),
            ("mode", self.builder == "guided"),
            ("nodes", has_engine && verbalised),
            ("wording", verbalised),
            (
                "seed",
                self.builder != "best_move"
                    || self.limit.is_some()
                    || self.distribution() != Ok(Distribution::default()),
            ),
        ];
        used_if.into_iter().filter(|(_, used)| !used).map(|(name, _)| name).collect()
    }

    /// Returns the faults of these values beyond their types.
    pub fn validate(&self) -> Vec<ParameterError> {
        let mut errors = Vec::new();
        if let Err(fault) = self.fullmove_shares() {
            errors.push(ParameterError::new("fullmoves", fault));
        }
        if let Err(fault) = self.weights() {
            errors.push(ParameterError::new("kinds", fault));
        }
        if self.nodes == 0 {
            errors.push(ParameterError::new("nodes", "must be at least 1"));
        }
        if self.searches() && self.engine.is_none() && self.depth.is_some_and(|depth| depth > MOST_OWN_PLIES) {
            let fault = format!("is at most {MOST_OWN_PLIES} for our own engine");
            errors.push(ParameterError::new("depth", fault).maybe_hint(Some("or name an `engine`".to_owned())));
        }
        // A missing program is reported when it is about to be read.
        let there = self.engine.as_ref().filter(|engine| self.searches() && engine.0.exists());
        if let Some(Err(failure)) = there.map(|engine| check_program(&engine.0)) {
            errors.push(
                ParameterError::new("engine", format!("cannot be used: {}", failure.message)).maybe_hint(failure.hint),
            );
        }
        errors
    }

    /// The wanted shares of positions.
    pub fn distribution(&self) -> Result<Distribution, String> {
        Ok(Distribution { fullmoves: self.fullmove_shares()?, balanced_sides: self.sides == "balanced" })
    }

    fn fullmove_shares(&self) -> Result<Option<FullmoveShares>, String> {
        (!self.fullmoves.is_empty()).then(|| FullmoveShares::of_map(&self.fullmoves)).transpose()
    }

    /// The kinds of question of `factual` with their weights.
    ///
    /// # Errors
    /// A name is no kind, or all weights are 0.
    pub fn weights(&self) -> Result<Vec<(FactKind, usize)>, String> {
        let kind = |name: &str| {
            FactKind::of_name(name).ok_or_else(|| {
                let names = FactKind::ALL.map(FactKind::name).join(", ");
                format!("has `{name}`, which is no kind: the kinds are {names}")
            })
        };
        let weights = self.kinds.iter().map(|(name, weight)| Ok((kind(name)?, *weight)));
        // In the order of the kinds, whatever that of their names.
        let mut weights: Vec<(FactKind, usize)> = weights.collect::<Result<_, String>>()?;
        weights.sort_unstable();
        match weights.iter().fold(0, |sum: usize, (_, weight)| sum.saturating_add(*weight)) {
            0 => Err("has weights that are all 0".to_owned()),
            1..=MAX_WEIGHT_SUM => Ok(weights),
            _ => Err(format!("has weights of more than {MAX_WEIGHT_SUM} in all")),
        }
    }

    /// Returns true if positions of games, which have no values, are not enough.
    pub fn needs_evaluations(&self) -> bool {
        self.builder == "best_move" || self.needs_values()
    }

    /// Returns true if `factual` has questions that need evaluations of all moves.
    pub fn needs_values(&self) -> bool {
        let needs = |name: &str| self.kinds.get(name).is_some_and(|weight| *weight > 0);
        self.builder == "factual" && (needs("win_probability") || needs("which_of_two"))
    }

    /// The moves that `guided` explains.
    pub fn mode(&self) -> GuidedMode {
        GuidedMode::of_name(&self.mode).unwrap_or(GuidedMode::Good)
    }

    /// The form in which a position is written.
    pub fn board(&self) -> BoardForm {
        BoardForm::of_name(&self.board).unwrap_or(BoardForm::UniformVisual)
    }

    /// The phrases that are used.
    pub fn wording(&self) -> Wording {
        if self.wording == "plain" { Wording::Plain } else { Wording::Varied }
    }

    /// Plies of a search.
    pub fn depth(&self) -> u8 {
        self.depth.unwrap_or(if self.engine.is_some() { DEPTHS.0 } else { DEPTHS.1 })
    }
}
