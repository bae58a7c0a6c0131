//! Parameters of `analyse`.

use std::collections::BTreeMap;

use cwm_contract::{ParameterError, SourceFile, Type, Value, parameters};
use cwm_shares::{Distribution, FullmoveShares};
use cwm_uci::{Settings, check_program};

/// The most positions that are placed: fewer than the streams of a seed.
const MOST_PLACED: i128 = 100_000;

/// The most moves that a position has.
pub const MOST_MOVES: u32 = 218;

parameters! {
    /// The engine, its limit, and the positions that it evaluates.
    pub struct Config {
        /// A program that speaks UCI, such as /usr/games/stockfish (`apt-get install stockfish`). Its bytes are part of the key.
        /// Without one, our own engine finds the moves, that of `play`, which is weaker.
        pub engine: Option<SourceFile> = None,
        /// Plies that our own engine looks ahead before it follows captures, in place of `nodes`.
        pub depth: u32 = 2, kind = Type::Integer { min: 1, max: 4 },
        /// Nodes that the engine searches in each position.
        pub nodes: u64 = 1_000,
        /// MiB of the engine's hash table.
        pub hash: u32 = 1, kind = Type::Integer { min: 1, max: 65_536 },
        /// The number of moves that are valued in each position, the best ones, or `all`.
        pub multipv: Value = Value::Int(1),
        /// Ask the engine about the position after each move by itself, with `nodes` for each, and not about all moves at once.
        pub each: bool = false,
        /// More options of the engine by name. Threads, hash table and number of lines are fixed; options by which answers depend
        /// on chance or time, and those whose values are files, are refused.
        pub options: BTreeMap<String, String> = BTreeMap::new(),
        /// The side whose moves are evaluated.
        pub side: String = "both".into(), kind = Type::Choice(&["both", "white", "black"]),
        /// Find puzzles as well: positions in which one move alone keeps an advantage that a mistake gave. Every
        /// position is then evaluated with two lines.
        pub puzzles: bool = false,
        /// Centipawns that the mistake before a puzzle gives away, that its solution is ahead, and by which it is
        /// better than any other move.
        pub margin: u32 = 200, kind = Type::Integer { min: 1, max: 10_000 },
        /// Plies from one position that is written to the next.
        pub every: u64 = 1,
        /// Plies at the beginning of each game that are dropped.
        pub from_ply: u64 = 0,
        /// Evaluate the first so many games.
        pub limit: Option<u64> = None,
        /// In place of games: so many different positions placed by chance, in which kings stand anywhere, with one or more
        /// pieces of either side (a third of them pawns) and no castling rights.
        pub place: Option<u64> = None, kind = Type::Optional(Box::new(Type::Integer { min: 1, max: MOST_PLACED })),
        /// Seeds of other stages with `place`, the same `max_pieces` and the same `min_legal`: none of their positions is placed.
        pub apart_from: Vec<u64> = Vec::new(),
        /// The most pieces of a position, kings and pawns included.
        pub max_pieces: u32 = 32, kind = Type::Integer { min: 2, max: 32 },
        /// The fewest legal moves of a position.
        pub min_legal: u64 = 0,
        /// Draw so many positions of each game, or all if it has fewer. Where positions are drawn, each board is taken once.
        pub per_game: Option<u64> = None,
        /// Shares of positions by their full move, such as `{ 0-9: 0.1, 10-19: 0.3, 20+: 0.6 }`: as many of the positions as have
        /// them are drawn, and none of other full moves.
        pub fullmoves: BTreeMap<String, f64> = BTreeMap::new(),
        /// The sides of drawn positions: `balanced` draws them so that each side moves in half of them.
        pub sides: String = "as_it_comes".into(), kind = Type::Choice(&["as_it_comes", "balanced"]),
        /// Seed of positions that are placed or drawn.
        pub seed: u64 = 0,
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
        let usual = [
            ("hash", self.hash == 1 || self.engine.is_none()),
            ("multipv", self.multipv == Value::Int(1)),
            ("each", !self.each),
            ("place", self.place.is_none()),
            ("apart_from", self.apart_from.is_empty()),
            ("max_pieces", self.max_pieces == 32),
            ("min_legal", self.min_legal == 0),
            ("per_game", self.per_game.is_none()),
            ("fullmoves", self.fullmoves.is_empty()),
            ("sides", !self.is_balanced()),
            ("seed", self.place.is_none() && !self.draws()),
        ];
        unused.extend(usual.iter().filter(|(_, is_usual)| *is_usual).map(|(name, _)| *name));
        unused.extend(self.of_games().iter().filter(|_| self.place.is_some()).map(|(name, _)| *name));
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
        // A missing program is reported where it is about to be read.
        if let Some(engine) = &self.engine
            && let Some(Err(failure)) = engine.0.exists().then(|| check_program(&engine.0))
        {
            errors.push(
                ParameterError::new("engine", format!("cannot be used: {}", failure.message)).maybe_hint(failure.hint),
            );
        }
        self.validate_positions(&mut errors);
        let settings = Settings { options: self.options.clone(), ..Settings::default() };
        if let Err(failure) = settings.check() {
            errors.push(ParameterError::new("options", format!("cannot be used: {}", failure.message)));
        }
        errors
    }

    /// Checks the selection of positions, and the number of moves of each that are valued.
    fn validate_positions(&self, errors: &mut Vec<ParameterError>) {
        let mut check = |is_right: bool, parameter: &str, message: &str| {
            if !is_right {
                errors.push(ParameterError::new(parameter, message));
            }
        };
        let message = format!("must be a number from 1 to {MOST_MOVES}, or `all`");
        check(self.moves().is_some(), "multipv", &message);
        check(!self.each || self.engine.is_some(), "each", "needs an `engine`: our own values each move by itself");
        check(self.per_game != Some(0), "per_game", "must be at least 1");
        if let Err(wrong) = self.distribution() {
            check(false, "fullmoves", &wrong);
        }
        let is_single = !self.is_balanced() || self.side == "both";
        check(is_single, "sides", "`balanced` needs the positions of both sides: `side: both`");
        let is_plain = self.moves() == Some(1) && self.max_pieces == 32 && self.min_legal == 0 && !self.draws();
        let message = "need every position of a game, and two moves of each: leave out `multipv`, `max_pieces`, `min_legal`, \
                       `per_game`, `fullmoves` and `sides`";
        check(!self.puzzles || is_plain, "puzzles", message);
        if self.place.is_some() {
            check(self.max_pieces > 2, "max_pieces", "must be at least 3 with `place`");
            check(!self.apart_from.contains(&self.seed), "apart_from", "must not have the stage's own `seed`");
            for (name, is_usual) in self.of_games() {
                check(is_usual, name, "is of games, and `place` needs none");
            }
        } else {
            check(self.apart_from.is_empty(), "apart_from", "needs `place`");
        }
    }

    /// Parameters of positions of games, and whether each has no effect.
    fn of_games(&self) -> [(&'static str, bool); 8] {
        [
            ("side", self.side == "both"),
            ("puzzles", !self.puzzles),
            ("every", self.every == 1),
            ("from_ply", self.from_ply == 0),
            ("limit", self.limit.is_none()),
            ("per_game", self.per_game.is_none()),
            ("fullmoves", self.fullmoves.is_empty()),
            ("sides", !self.is_balanced()),
        ]
    }

    /// The number of moves to value in each position; all are at most [`MOST_MOVES`]. None if it is wrong.
    pub fn moves(&self) -> Option<u32> {
        match &self.multipv {
            Value::Int(number) => u32::try_from(*number).ok().filter(|number| (1..=MOST_MOVES).contains(number)),
            Value::Text(word) if word == "all" => Some(MOST_MOVES),
            _ => None,
        }
    }

    /// The size of the hash table as an option of the engine, if it is not the usual one.
    pub fn hash_option(&self) -> Option<(String, String)> {
        (self.hash != 1).then(|| ("Hash".to_owned(), self.hash.to_string()))
    }

    /// True if each side moves in half of the positions.
    pub fn is_balanced(&self) -> bool {
        self.sides == "balanced"
    }

    /// True if positions are drawn from those of games.
    pub fn draws(&self) -> bool {
        self.per_game.is_some() || !self.fullmoves.is_empty() || self.is_balanced()
    }

    /// The wanted shares of positions.
    ///
    /// # Errors
    /// A range of full moves or a share is wrong.
    pub fn distribution(&self) -> Result<Distribution, String> {
        let fullmoves = (!self.fullmoves.is_empty()).then(|| FullmoveShares::of_map(&self.fullmoves)).transpose()?;
        Ok(Distribution { fullmoves, balanced_sides: self.is_balanced() })
    }
}
