//! How the scored models were trained.

use cwm_page::visible;
use polars_core::prelude::{DataFrame, PolarsResult};

use crate::papers::chess_world_model::model::Model;
use crate::papers::chess_world_model::results::texts;

/// The status of a training that ended early, with the last weights that were good.
pub(crate) const DIVERGED: &str = "diverged";

/// What bins call weights that are not the last, but those that did best in a validation (`checkpoint: best` of `train`).
pub(crate) const BEST: &str = "best";

/// Of several runs, how many are not what the paper's are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Departures {
    /// Of trainings that diverged.
    pub(crate) diverged: usize,
    /// With weights that are not the last.
    pub(crate) best: usize,
}

impl Departures {
    /// For each kind the larger number.
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

/// Of the rows of `overall.parquet`, in their order; scores of one model and seed are of one training.
///
/// # Errors
/// A column is missing; reading has made sure that none is.
pub(crate) fn trainings(overall: &DataFrame) -> PolarsResult<Vec<Training>> {
    let [labels, families, sizes] = ["label", "family", "size"].map(|name| texts(overall, name));
    let (labels, families, sizes) = (labels?, families?, sizes?);
    let seeds = overall.column("seed")?.i64()?;
    let (statuses, games) = (overall.column("status")?.str()?, overall.column("trained_games")?.u64()?);
    let epochs = overall.column("epochs")?.f64()?;
    let mut trainings: Vec<Training> = Vec::new();
    for (row, label) in labels.iter().enumerate() {
        let training = Training {
            model: Model::new(&visible(label), &visible(&families[row]), &visible(&sizes[row])),
            seed: seeds.get(row),
            diverged: statuses.get(row) == Some(DIVERGED),
            games: games.get(row),
            epochs: epochs.get(row),
        };
        let known = trainings.iter().any(|known| known.model == training.model && known.seed == training.seed);
        if !known {
            trainings.push(training);
        }
    }
    Ok(trainings)
}
