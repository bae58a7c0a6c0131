//! The trainings of the scored models.

use crate::papers::chess_world_model::model::Model;
use crate::papers::chess_world_model::read::bins::OverallRow;

/// The status of a training that ended early, with the last weights that were good.
pub(crate) const DIVERGED: &str = "diverged";

/// The name in bins of weights that are not the last, but those that did best in a validation (`checkpoint: best` of
/// `train`).
pub(crate) const BEST: &str = "best";

/// The number of runs, of several, that depart from the paper's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Departures {
    /// The number of trainings that diverged.
    pub(crate) diverged: usize,
    /// The number of runs with weights that are not the last.
    pub(crate) best: usize,
}

impl Departures {
    /// Returns the larger number of each kind.
    pub(crate) fn max(self, other: Self) -> Self {
        Departures { diverged: self.diverged.max(other.diverged), best: self.best.max(other.best) }
    }
}

/// One training; its model was scored once or more.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Training {
    pub(crate) model: Model,
    pub(crate) seed: Option<i64>,
    pub(crate) diverged: bool,
    /// Games trained on, where that is known.
    pub(crate) games: Option<u64>,
    /// Passes over them, where that is known.
    pub(crate) epochs: Option<f64>,
}

/// Returns the trainings of the rows of `overall.parquet`, in their order; scores of one model and seed are of one
/// training.
pub(crate) fn trainings(overall: &[OverallRow]) -> Vec<Training> {
    let mut trainings: Vec<Training> = Vec::new();
    for row in overall {
        let training = Training {
            model: Model::of(&row.scored),
            seed: row.scored.seed,
            diverged: row.status.as_deref() == Some(DIVERGED),
            games: row.trained_games,
            epochs: row.epochs,
        };
        let known = trainings.iter().any(|known| known.model == training.model && known.seed == training.seed);
        if !known {
            trainings.push(training);
        }
    }
    trainings
}
