//! The positions that examples can be built of.

mod evaluations;
mod games;

use std::collections::{BTreeMap, HashSet};

use cwm_contract::{Context, Failure};
use cwm_questions::boards_of_files;
use cwm_reasoning::values::Values;
use shakmaty::{Chess, Position};

use crate::config::Config;

/// Positions between two checks for cancellation.
const STRIDE: u64 = 1 << 10;

/// A position in which there is something to play.
#[derive(Debug)]
pub struct Place {
    /// Its number among all positions that were read, from 0: its random stream has this number.
    pub number: u64,
    /// The position.
    pub position: Chess,
    /// The game that it is from, by the `index` of its file.
    pub game: Option<u64>,
    /// The plies of that game before it.
    pub ply: Option<u32>,
    /// Its best move (UCI), of evaluations for `best_move`.
    pub best: Option<String>,
    /// The values of its moves, of evaluations for some kinds of `factual`.
    pub values: Option<Values>,
}

/// The moves of an evaluation: the best one, or the values of all.
#[derive(Default)]
struct KnownMoves {
    best: Option<String>,
    values: Option<Values>,
}

/// The positions of an input, and what was dropped.
#[derive(Debug, Default)]
pub struct Positions {
    /// Each board once, where it was first.
    pub places: Vec<Place>,
    /// Positions that were read.
    pub read: u64,
    /// Positions without a legal move.
    pub games_over: u64,
    /// Boards that were there before, with the same side to move and the same rights.
    pub repeated: u64,
    /// Boards of the items of the input `apart`.
    pub apart: u64,
    seen: HashSet<Chess>,
    of_items: HashSet<Chess>,
}

impl Positions {
    /// Reads the input of `examples`.
    ///
    /// # Errors
    /// It cannot be read, or holds what is no position of a game; so can the items of `apart`; or the stage was cancelled.
    pub fn read(context: &Context, config: &Config) -> Result<Positions, Failure> {
        context.activity("reading positions");
        let apart = context.group("apart").iter().map(|input| &*input.path);
        let mut positions = Positions { of_items: boards_of_files(apart)?, ..Positions::default() };
        match context.optional_input("games") {
            Some(folder) => games::read(context, folder, &mut positions)?,
            None => evaluations::read(context, context.input("evaluations")?, config, &mut positions)?,
        }
        (positions.seen, positions.of_items) = (HashSet::new(), HashSet::new());
        Ok(positions)
    }

    /// Adds a position, unless it is dropped.
    fn push(
        &mut self,
        context: &Context,
        position: &Chess,
        (game, ply): (Option<u64>, Option<u32>),
        known: impl FnOnce() -> Result<KnownMoves, Failure>,
    ) -> Result<(), Failure> {
        let number = self.read;
        self.read += 1;
        if number.is_multiple_of(STRIDE) {
            context.check_cancelled()?;
        }
        if position.legal_moves().is_empty() {
            self.games_over += 1;
        } else if self.of_items.contains(position) {
            self.apart += 1;
        } else if self.seen.insert(position.clone()) {
            let KnownMoves { best, values } = known()?;
            self.places.push(Place { number, position: position.clone(), game, ply, best, values });
        } else {
            self.repeated += 1;
        }
        Ok(())
    }

    /// The positions that were dropped, by reason.
    pub fn dropped(&self) -> BTreeMap<&'static str, u64> {
        BTreeMap::from([("apart", self.apart), ("game_over", self.games_over), ("repeated", self.repeated)])
    }
}
