//! A player at the board.

use std::path::Path;

use cwm_contract::{Cancellation, Failure};
use cwm_game::StreamRng;
use cwm_player::{AnswerError, PlayRules, Player};
use cwm_random::Random;
use cwm_search::candidates;
use cwm_uci::{Engine, Level, Limit, Score, SearchRoot, Settings};
use shakmaty::{Move, Position};

use crate::board::Board;
use crate::config::Config;
use crate::kind::Kind;

/// The answer of a player whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveChoice {
    /// The player moves.
    Move(Move),
    /// The player has no attempt left, and none gave a legal move.
    NoLegalMove,
    /// The game is too long for it.
    ContextFull,
}

/// A player at the board, for one game after the other.
pub enum Side<'p> {
    /// Any legal move.
    Random,
    /// A model.
    Model(Model<'p>),
    /// An engine, and how far it searches.
    Engine(Box<Engine>, Strength),
    /// Our own engine, and how many plies it looks ahead.
    OwnEngine(u32),
}

/// A model and its rules.
#[derive(Clone, Copy)]
pub struct Model<'p> {
    player: &'p Player,
    rules: PlayRules,
    avoids_repetition: bool,
}

/// The strength at which an engine plays.
#[derive(Clone, Debug)]
pub enum Strength {
    /// An engine at full strength to this limit.
    Full(Limit),
    /// An engine at a level.
    Level(Level),
}

impl<'p> Side<'p> {
    /// The side of a model.
    pub fn of_model(player: &'p Player, config: &Config) -> Self {
        let attempts = (!config.has_mask()).then_some(config.attempts);
        let rules = PlayRules { attempts, temperature: config.temperature };
        Side::Model(Model { player, rules, avoids_repetition: config.repetition == "avoid" })
    }

    /// The side of a player that is no model.
    ///
    /// # Errors
    /// The engine cannot be used, or has no levels that are known.
    pub fn of_other(kind: Kind, engine: Option<&Path>, cancellation: &Cancellation) -> Result<Self, Failure> {
        let start = |lines| {
            let engine = engine.ok_or_else(|| Failure::input(format!("`{kind}` needs an engine")))?;
            let settings = Settings { lines, cancellation: cancellation.clone(), ..Settings::default() };
            Engine::start(engine, settings).map(Box::new)
        };
        match kind {
            Kind::Random => Ok(Side::Random),
            Kind::Depth(depth) => Ok(Side::OwnEngine(depth)),
            Kind::Model | Kind::Other => Err(Failure::input(format!("the input `{kind}` is not given"))),
            Kind::Nodes(nodes) => Ok(Side::Engine(start(1)?, Strength::Full(Limit::nodes(nodes)))),
            Kind::Level(weakest, _) => {
                let engine = start(Level::LINES)?;
                let level = Level::new(weakest, engine.name())?;
                Ok(Side::Engine(engine, Strength::Level(level)))
            }
        }
    }

    /// The name of its engine.
    pub fn engine_name(&self) -> Option<&str> {
        if let Side::Engine(engine, _) = self { Some(engine.name()) } else { None }
    }

    /// Sets the level of the next game.
    ///
    /// # Errors
    /// The engine has no such level.
    pub fn set_level(&mut self, number: u8) -> Result<(), Failure> {
        if let Side::Engine(engine, strength) = self {
            *strength = Strength::Level(Level::new(number, engine.name())?);
        }
        Ok(())
    }

    /// Returns its answer in a position with a legal move, and adds a model's answers that are no legal move to
    /// `illegal`.
    ///
    /// # Errors
    /// The engine fails.
    pub fn choose(&mut self, board: &Board, random: &mut StreamRng, illegal: &mut u32) -> Result<MoveChoice, Failure> {
        match self {
            Side::Random => {
                let moves = board.position().legal_moves();
                Ok(MoveChoice::Move(moves[random.below(moves.len() as u32) as usize]))
            }
            Side::Model(model) => model.choose(board, random, illegal),
            Side::OwnEngine(depth) => {
                let found = candidates(&board.state, &board.position().legal_moves(), *depth, 0);
                let best = found.first().ok_or_else(|| Failure::internal("no move is best where one is legal"))?;
                Ok(MoveChoice::Move(best.chosen))
            }
            Side::Engine(engine, strength) => {
                let root = SearchRoot::game(&board.uci_moves)?;
                match strength {
                    Strength::Full(limit) => Ok(MoveChoice::Move(engine.query(&root, limit)?.best)),
                    Strength::Level(level) => weakened(engine, *level, &root, random).map(MoveChoice::Move),
                }
            }
        }
    }
}

impl Model<'_> {
    fn choose(self, board: &Board, random: &mut StreamRng, illegal: &mut u32) -> Result<MoveChoice, Failure> {
        let state = &board.state;
        let is_excluded = |played: Move| {
            self.avoids_repetition && !played.is_zeroing() && state.times_before(&state.after(played)) >= 2
        };
        match self.player.play(self.rules, &board.game, &is_excluded, &mut || random.uniform()) {
            Ok(chosen) => {
                *illegal += chosen.illegal.len() as u32;
                Ok(chosen.played.map_or(MoveChoice::NoLegalMove, MoveChoice::Move))
            }
            Err(AnswerError::ContextFull(_)) => Ok(MoveChoice::ContextFull),
            Err(AnswerError::Form(what)) => Err(Failure::internal(what)),
        }
    }
}

/// The move of an engine at a level. As many numbers are drawn whatever the engine reports.
fn weakened(engine: &mut Engine, level: Level, root: &SearchRoot, random: &mut StreamRng) -> Result<Move, Failure> {
    let draws: [u32; Level::LINES as usize] = std::array::from_fn(|_| random.next());
    let answer = engine.query(root, &level.limit())?;
    let scores: Vec<Score> = answer.lines.iter().map(|line| line.score).collect();
    let chosen = level.choose(&scores, &draws).and_then(|chosen| answer.lines[chosen].moves.first());
    chosen.copied().ok_or_else(|| {
        let (name, fen) = (engine.name(), root.fen());
        Failure::input(format!("the engine {name} reported no line with a move, in the position `{fen}`"))
    })
}
