//! Items of Structural and Motifs about a position.

use std::cell::LazyCell;

use cwm_contract::Failure;
use cwm_game::StreamRng;
use cwm_random::Random;
use shakmaty::{Chess, Square};

use super::draft::blank;
use super::picker::{Order, Picker, TaskCount};
use crate::Task;
use crate::item::Item;
use crate::truth::{Keys, Position, answer_in_position, piece_name};

/// The Structural tasks about a position, in the order in which they are tried.
const STRUCTURAL: [Task; 8] = [
    Task::PieceArrangement,
    Task::LegalMovePiece,
    Task::LegalMoveAll,
    Task::CheckDetection,
    Task::CheckIn1,
    Task::CaptureSquares,
    Task::ProtectSquares,
    Task::ControlSquares,
];

/// The Motifs, in the order in which they are tried.
const MOTIFS: [Task; 6] =
    [Task::Pin, Task::Fork, Task::Battery, Task::Skewer, Task::DiscoveredCheck, Task::DoubleCheck];

/// The source of a position.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'a> {
    /// A puzzle.
    Puzzle {
        /// Its id.
        id: &'a str,
    },
    /// A game.
    Game {
        /// Its id.
        id: &'a str,
        /// The moves before the position, UCI.
        moves: &'a [String],
    },
}

impl Origin<'_> {
    /// A name that no other row has.
    fn row(self) -> String {
        match self {
            Origin::Puzzle { id } => id.to_owned(),
            Origin::Game { id, moves } => format!("{id} {}", moves.len()),
        }
    }
}

/// Chooses the items of Structural (but state tracking) and Motifs. The two families are independent.
pub struct Positions {
    keys: Keys,
    families: [Picker; 2],
}

impl Positions {
    /// `wanted` is the number of items of each task.
    pub fn new(order: Order, seed: i128, keys: Keys, wanted: impl Fn(Task) -> usize) -> Self {
        let count = |&task: &Task| TaskCount { task, wanted: wanted(task), weight: weight(task) };
        let family = |tasks: &[Task]| Picker::new(order, seed, &tasks.iter().map(count).collect::<Vec<_>>());
        Positions { keys, families: [family(&STRUCTURAL), family(&MOTIFS)] }
    }

    /// Returns true if no more rows are needed.
    pub fn is_full(&self) -> bool {
        self.families.iter().all(Picker::is_full)
    }

    /// Adds a position as a candidate.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn add_candidate(&mut self, position: &Chess, origin: Origin<'_>) -> Result<(), Failure> {
        let row = origin.row();
        // Of a row that no task would take, no moves are needed.
        let position = LazyCell::new(|| Position::of_chess(position));
        for (family, tasks) in self.families.iter_mut().zip([&STRUCTURAL[..], &MOTIFS]) {
            family.add_candidate(&row, tasks, |task, draws| Ok(make(task, &position, origin, self.keys, draws)))?;
        }
        Ok(())
    }

    /// The items, without their questions.
    pub fn finish(self) -> Vec<Item> {
        self.families.into_iter().flat_map(|family| family.finish(false)).collect()
    }
}

/// The weight of a task within its family: larger for rare ones.
fn weight(task: Task) -> u64 {
    match task {
        Task::CheckDetection | Task::DoubleCheck => 64,
        Task::DiscoveredCheck => 16,
        _ => 1,
    }
}

fn make(task: Task, position: &Position, origin: Origin<'_>, keys: Keys, draws: &mut StreamRng) -> Option<Item> {
    let squares: Vec<Square> = match task {
        Task::LegalMovePiece => {
            let mut origins: Vec<Square> = position.moves().iter().filter_map(|played| played.from()).collect();
            origins.sort_unstable();
            origins.dedup();
            origins
        }
        Task::CaptureSquares | Task::ControlSquares | Task::ProtectSquares => {
            let board = position.board();
            (board.occupied() ^ board.pawns() ^ board.kings()).into_iter().collect()
        }
        _ => Vec::new(),
    };
    let is_of_square =
        matches!(task, Task::LegalMovePiece | Task::CaptureSquares | Task::ControlSquares | Task::ProtectSquares);
    if is_of_square && squares.is_empty() {
        return None;
    }
    let square = is_of_square.then(|| squares[draws.below(squares.len() as u32) as usize]);
    let answer = answer_in_position(task, position, square, keys).filter(|answer| !answer.is_empty())?;
    let mut item = blank(task, position.fen());
    match origin {
        Origin::Puzzle { id } => item.metadata.insert("puzzle_id", id),
        Origin::Game { id, .. } => item.metadata.insert("game_id", id),
    }
    if let Some(square) = square {
        item.metadata.insert("target_square", square.to_string());
        if let (true, Some(piece)) = (task != Task::LegalMovePiece, position.board().piece_at(square)) {
            item.metadata.insert("piece", piece_name(piece));
        }
    }
    if let Some(count) = count_of(task) {
        item.metadata.insert(count, answer.split(", ").count());
    }
    item.correct_answer = answer;
    if let Origin::Game { moves, .. } = origin {
        item.metadata.insert("moves", moves.to_vec());
    }
    Some(item)
}

/// The name in metadata under which the number of answers stands.
fn count_of(task: Task) -> Option<&'static str> {
    Some(match task {
        Task::LegalMovePiece | Task::LegalMoveAll => "n_moves",
        Task::CheckDetection => "n_checkers",
        Task::CheckIn1 => "n_checking_moves",
        Task::CaptureSquares => "n_captures",
        Task::ControlSquares => "n_controlled",
        Task::ProtectSquares => "n_protected",
        Task::Pin => "n_pins",
        Task::Fork => "n_forks",
        Task::Battery => "n_batteries",
        Task::Skewer => "n_skewers",
        Task::DiscoveredCheck => "n_discovered_checks",
        Task::DoubleCheck => "n_double_checks",
        _ => return None,
    })
}
