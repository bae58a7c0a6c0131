//! Items of Short Tactics.

use cwm_contract::Failure;

use super::draft::{blank, finish};
use super::picker::{Order, Picker, TaskCount};
use super::puzzles::Puzzle;
use crate::item::Item;
use crate::truth::{Keys, Position};
use crate::{Level, Task, Theme};

/// The largest deviation of a rating.
const MAX_DEVIATION: i64 = 100;

/// The least popularity.
const MIN_POPULARITY: i64 = 90;

/// The most moves, the opponent's included.
const MAX_MOVES: usize = 4;

/// The weight of themes against levels, which every puzzle has.
const THEME_WEIGHT: u64 = 16;

/// Chooses the items of Short Tactics. A puzzle serves one of them at most.
pub struct Tactics {
    levels: Picker,
    /// In the order of the file: themes wait for the levels, and take rows in a second pass. Else `levels` has them too.
    themes: Option<Picker>,
}

impl Tactics {
    /// `wanted` is the number of items of each task.
    pub fn new(order: Order, seed: i128, wanted: impl Fn(Task) -> usize) -> Self {
        let levels = Level::ALL.map(Task::Rating).map(|task| TaskCount { task, wanted: wanted(task), weight: 1 });
        let themes: Vec<TaskCount> = Theme::all()
            .map(Task::Theme)
            .map(|task| TaskCount { task, wanted: wanted(task), weight: THEME_WEIGHT })
            .collect();
        match order {
            Order::File => {
                Tactics { levels: Picker::new(order, seed, &levels), themes: Some(Picker::new(order, seed, &themes)) }
            }
            Order::Shuffled => {
                let all: Vec<TaskCount> = levels.into_iter().chain(themes).collect();
                Tactics { levels: Picker::new(order, seed, &all), themes: None }
            }
        }
    }

    /// Returns true if no more rows are needed in this pass, 0 or 1.
    pub fn is_full(&self, pass: usize) -> bool {
        match pass {
            0 => self.levels.is_full(),
            _ => self.themes.as_ref().is_none_or(Picker::is_full),
        }
    }

    /// Adds a puzzle as a candidate in a pass, 0 or 1.
    ///
    /// # Errors
    ///
    /// A mistake of ours: a key cannot be computed of an item that was made here.
    pub fn add_candidate(&mut self, pass: usize, puzzle: &Puzzle) -> Result<(), Failure> {
        let passes = puzzle.rating_deviation <= MAX_DEVIATION
            && puzzle.popularity >= MIN_POPULARITY
            && puzzle.moves.len() <= MAX_MOVES;
        let themes = puzzle.themes.iter().filter_map(|name| Theme::of_name(name)).map(Task::Theme);
        let tasks: Vec<Task> = if !passes {
            Vec::new()
        } else {
            [Task::Rating(Level::of_rating(puzzle.rating))].into_iter().chain(themes).collect()
        };
        let picker = match (pass, &mut self.themes) {
            (0, _) => &mut self.levels,
            (_, Some(_)) if self.levels.ids().contains(&puzzle.id) => return Ok(()),
            (_, Some(themes)) => themes,
            (_, None) => return Ok(()),
        };
        picker.add_candidate(&puzzle.id, &tasks, |task, _| make(task, puzzle))
    }

    /// The items, without their questions: those by level before those by theme.
    pub fn finish(self) -> Vec<Item> {
        let items = self.levels.finish(false).into_iter();
        let (levels, themes): (Vec<Item>, Vec<Item>) = items
            .chain(self.themes.into_iter().flat_map(|themes| themes.finish(false)))
            .partition(|item| matches!(item.task(), Some(Task::Rating(_))));
        levels.into_iter().chain(themes).collect()
    }
}

fn make(task: Task, puzzle: &Puzzle) -> Result<Option<Item>, Failure> {
    let mut item = blank(task, Position::of_chess(&puzzle.after).fen());
    let metadata = &mut item.metadata;
    metadata.insert("puzzle_id", puzzle.id.as_str());
    metadata.insert("rating", puzzle.rating);
    metadata.insert("themes", puzzle.themes.clone());
    if let Task::Theme(theme) = task {
        metadata.insert("primary_theme", theme.name());
    }
    metadata.insert("rating_deviation", puzzle.rating_deviation);
    metadata.insert("popularity", puzzle.popularity);
    metadata.insert("pv_length", puzzle.moves.len());
    metadata.insert("pv", puzzle.moves.join(" "));
    // Of several moves that mate, sound keys name all; the item has the puzzle's own.
    finish(item, Keys::Published)
}
