//! Finds the game of a row.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use cwm_chess::Dataset;
use cwm_contract::Failure;

/// The games of a dataset by their names in predictions.
pub struct GameNames {
    games: usize,
    /// By id, where rows name games so; `None` for an id that several games have.
    by_id: HashMap<Box<str>, Option<u32>>,
}

impl GameNames {
    /// The names of the dataset's games; ids are gathered only if `by_id` is set.
    ///
    /// # Errors
    /// The dataset is damaged.
    pub fn of(dataset: &Dataset, by_id: bool) -> Result<Self, Failure> {
        let mut names = GameNames { games: dataset.len(), by_id: HashMap::new() };
        if by_id {
            names.by_id.reserve(dataset.len());
            for (place, game) in (0..).zip(dataset.iter()) {
                match names.by_id.entry(game?.row().id.into()) {
                    Entry::Vacant(entry) => _ = entry.insert(Some(place)),
                    Entry::Occupied(mut entry) => *entry.get_mut() = None,
                }
            }
        }
        Ok(names)
    }

    /// The place of the game with this id.
    ///
    /// # Errors
    /// There is none, or more than one; as a phrase that fits after `row 3`.
    pub fn with_id(&self, id: &str) -> Result<u32, String> {
        match self.by_id.get(id) {
            Some(Some(place)) => Ok(*place),
            Some(None) => {
                Err(format!("names {}, which is the id of several games: name games by their place", shortened(id)))
            }
            None => Err(format!("names {}, which is the id of no game", shortened(id))),
        }
    }

    /// The place itself, if there is such a game.
    ///
    /// # Errors
    /// There is none; as a phrase that fits after `row 3`.
    pub fn at(&self, place: u64) -> Result<u32, String> {
        let found = u32::try_from(place).ok().filter(|place| (*place as usize) < self.games);
        found.ok_or_else(|| format!("names game {place}, and there are {}, counted from 0", self.games))
    }
}

/// An id as an error shows it: on one line and not endless.
fn shortened(id: &str) -> String {
    let shown: String = id.chars().take(60).flat_map(char::escape_debug).collect();
    format!("`{shown}`")
}
