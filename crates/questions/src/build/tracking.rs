//! Items of state tracking.

use cwm_contract::Failure;
use cwm_encoding::PlainMove;
use cwm_game::StreamRng;
use cwm_random::Random;
use shakmaty::Chess;
use shakmaty::san::SanPlus;

use super::draft::{blank, finish};
use super::picker::{Order, Picker, TaskCount};
use crate::Task;
use crate::item::Item;
use crate::truth::{Keys, Position};

/// Plies before the position from which a game is followed.
const START: usize = 30;

/// The tasks, and the plies that are followed.
const TASKS: [(Task, std::ops::RangeInclusive<usize>); 3] =
    [(Task::StateTrackingShort, 1..=5), (Task::StateTrackingMid, 6..=10), (Task::StateTrackingLong, 11..=15)];

/// Chooses the items of state tracking. A game serves one of the three tasks at most.
pub struct StateTracking {
    keys: Keys,
    picker: Picker,
}

impl StateTracking {
    /// `wanted` is the number of items of each task.
    pub fn new(order: Order, seed: i128, keys: Keys, wanted: impl Fn(Task) -> usize) -> Self {
        let tasks = TASKS.map(|(task, _)| TaskCount { task, wanted: wanted(task), weight: 1 });
        StateTracking { keys, picker: Picker::new(order, seed, &tasks) }
    }

    /// Returns true if no more games are needed.
    pub fn is_full(&self) -> bool {
        self.picker.is_full()
    }

    /// Adds a game as a candidate: its id and its moves, packed.
    ///
    /// # Errors
    ///
    /// A move of it is not legal.
    pub fn add_candidate(&mut self, id: &str, moves: &[u16]) -> Result<(), Failure> {
        let make = |task, draws: &mut StreamRng| make(task, id, moves, self.keys, draws);
        self.picker.add_candidate(id, &TASKS.map(|(task, _)| task), make)
    }

    /// The items, without their questions, task after task.
    pub fn finish(self) -> Vec<Item> {
        self.picker.finish(true)
    }
}

fn make(task: Task, id: &str, moves: &[u16], keys: Keys, draws: &mut StreamRng) -> Result<Option<Item>, Failure> {
    let Some((_, plies)) = TASKS.iter().find(|(of, _)| *of == task) else { return Ok(None) };
    let length = plies.start() + draws.below(plies.clone().count() as u32) as usize;
    let (Some(before), Some(followed)) = (moves.get(..START), moves.get(START..START + length)) else {
        return Ok(None);
    };
    let mut position = Chess::default();
    let mut uci = Vec::new();
    let mut play = |position: &mut Chess, packed: u16| {
        let plain = PlainMove::from_packed(packed);
        let played = plain.and_then(|plain| cwm_encoding::legal(position, plain));
        let number = uci.len() + 1;
        let played = played.ok_or_else(|| Failure::input(format!("move {number} of the game {id:?} is not legal")))?;
        uci.extend(plain.map(|plain| plain.to_string()));
        Ok::<_, Failure>(SanPlus::from_move_and_play_unchecked(position, played).to_string())
    };
    for &packed in before {
        play(&mut position, packed)?;
    }
    let start = Position::of_chess(&position).fen();
    let san = followed.iter().map(|&packed| play(&mut position, packed)).collect::<Result<Vec<_>, _>>()?;
    let followed = uci.split_off(START);
    let mut item = blank(task, format!("{start} | {}", followed.join(" ")));
    item.metadata.insert("game_id", id);
    item.metadata.insert("moves_uci", followed);
    item.metadata.insert("moves_san", san);
    item.metadata.insert("track_length", length);
    item.metadata.insert("moves", uci);
    finish(item, keys)
}
