//! The runs (seeds) of one model.

use cwm_contract::{Failure, Label};
use cwm_scores::metrics::METRICS;

use crate::games::Game;

/// The runs of one model on one test set that have losses.
#[derive(Default)]
pub struct Runs {
    labels: Vec<Label>,
    /// The seed of each, where it has one.
    seeds: Vec<Option<i64>>,
    /// Games with their sums added over the runs.
    games: Vec<Game>,
}

impl Runs {
    /// Adds the run of this seed.
    ///
    /// # Errors
    /// It is there already, as where two stages scored one model; or it was scored on other games than those before.
    pub fn add(&mut self, label: &Label, seed: Option<i64>, games: Vec<Game>) -> Result<(), Failure> {
        if let Some(place) = self.seeds.iter().position(|known| *known == seed) {
            return Err(twice(&self.labels[place], label, seed));
        }
        match self.labels.first() {
            None => self.games = games,
            Some(first) => {
                same_games(first, &self.games, label, &games)?;
                for (sum, game) in self.games.iter_mut().zip(games) {
                    sum.sums.iter_mut().zip(game.sums).for_each(|(sum, more)| *sum += more);
                }
            }
        }
        self.labels.push(label.clone());
        self.seeds.push(seed);
        Ok(())
    }

    /// Returns true if none of them has losses.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Returns their number.
    pub fn count(&self) -> usize {
        self.labels.len()
    }

    /// Positions of each game.
    pub fn positions(&self) -> impl Iterator<Item = u64> + '_ {
        self.games.iter().map(|game| game.positions)
    }

    /// Returns the sum of each metric for each game, the mean over the runs.
    pub fn sums(&self) -> impl Iterator<Item = [f64; METRICS]> + '_ {
        let runs = self.labels.len() as f64;
        self.games.iter().map(move |game| game.sums.map(|sum| sum / runs))
    }

    /// Returns true if `other` was scored on the same games.
    ///
    /// # Errors
    /// It was not.
    pub fn same_games(&self, other: &Runs) -> Result<(), Failure> {
        match (self.labels.first(), other.labels.first()) {
            (Some(one), Some(another)) => same_games(one, &self.games, another, &other.games),
            _ => Ok(()),
        }
    }
}

fn twice(one: &Label, other: &Label, seed: Option<i64>) -> Failure {
    let seed = seed.map_or_else(|| "without a seed".to_owned(), |seed| format!("seed {seed}"));
    Failure::input(format!("{one} and {other} are scores of one model, {seed}, on one test set")).hint(
        "give the scores of the other stage to a `compare` of their own, or distinguish the models by an axis of the matrix",
    )
}

fn same_games(one: &Label, games: &[Game], other: &Label, others: &[Game]) -> Result<(), Failure> {
    let same = |(a, b): (&Game, &Game)| a.number == b.number && a.positions == b.positions;
    if games.len() == others.len() && games.iter().zip(others).all(same) {
        return Ok(());
    }
    Err(Failure::input(format!("{one} and {other} were not scored on the same games"))
        .hint("models are paired by game: evaluate them on the same test set, whole"))
}
