//! Models beside the baseline of their size, on the same games.

use std::collections::BTreeMap;

use cwm_contract::{Context, Failure, Label};
use serde_json::{Value, json};

use crate::bootstrap::{interval, mean};
use crate::config::Config;
use crate::games::Game;
use crate::model::Model;

/// The runs (seeds) of one model on one test set that have losses.
#[derive(Default)]
pub struct Runs {
    labels: Vec<Label>,
    /// Games with their losses added over the runs.
    games: Vec<Game>,
}

impl Runs {
    /// Adds a run.
    ///
    /// # Errors
    /// It was scored on other games than those before.
    pub fn add(&mut self, label: &Label, games: Vec<Game>) -> Result<(), Failure> {
        match self.labels.first() {
            None => self.games = games,
            Some(first) => {
                same_games(first, &self.games, label, &games)?;
                self.games.iter_mut().zip(games).for_each(|(sum, game)| sum.loss += game.loss);
            }
        }
        self.labels.push(label.clone());
        Ok(())
    }

    /// Whether none of them has losses.
    fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Mean loss of a position, over all runs.
    fn loss(&self) -> f64 {
        let runs = self.labels.len() as f64;
        mean(&self.games.iter().map(|game| (game.positions, game.loss / runs)).collect::<Vec<_>>())
    }
}

fn same_games(one: &Label, games: &[Game], other: &Label, others: &[Game]) -> Result<(), Failure> {
    let same = |(a, b): (&Game, &Game)| a.number == b.number && a.positions == b.positions;
    if games.len() == others.len() && games.iter().zip(others).all(same) {
        return Ok(());
    }
    Err(Failure::input(format!("{one} and {other} were not scored on the same games"))
        .hint("models are paired by game: evaluate them on the same test set, whole"))
}

/// One model beside the baseline.
pub struct Comparison {
    model: Model,
    baseline: String,
    test: String,
    games: usize,
    positions: u64,
    runs: (usize, usize),
    losses: (f64, f64),
    /// The model's loss less the baseline's.
    pub difference: f64,
    /// Its interval, where the losses are finite.
    pub interval: Option<(f64, f64)>,
    /// Share of the games on which the model's loss is lower.
    lower_games: f64,
}

/// Every model that is not of the baseline's family and has losses, beside it; by test set, size, variant and family.
///
/// # Errors
/// There is no baseline of that size on that test set, it has no losses or was scored on other games; nothing is to be
/// compared; or it was asked to stop.
pub fn compare(context: &Context, all: &BTreeMap<Model, Runs>, config: &Config) -> Result<Vec<Comparison>, Failure> {
    let others: Vec<_> =
        all.iter().filter(|(model, runs)| model.family != config.baseline && !runs.is_empty()).collect();
    let total = others.len() as u64 * config.resamples;
    let compared: Vec<_> = (0..)
        .zip(others)
        .map(|(place, (model, runs))| {
            let baseline = Model { family: config.baseline.clone(), ..model.clone() };
            let beside = all.get(&baseline).ok_or_else(|| {
                Failure::input(format!("there are no scores of {} on {} to compare with", baseline.name(), model.test))
                    .hint("`baseline` names the family; it must be there in every size that is compared")
            })?;
            if beside.is_empty() {
                let (name, test) = (baseline.name(), &model.test);
                return Err(Failure::input(format!("the scores of {name} on {test} hold no losses to compare with"))
                    .hint(
                        "predictions have losses if their column `loss` tells them; `baseline` may name another family",
                    ));
            }
            same_games(&beside.labels[0], &beside.games, &runs.labels[0], &runs.games)?;
            one(model, runs, beside, config, |resample| {
                context.progress(place * config.resamples + resample, Some(total), "resamples");
                context.check_cancelled()
            })
        })
        .collect::<Result<_, Failure>>()?;
    if compared.is_empty() && all.keys().any(|model| model.family != config.baseline) {
        return Err(Failure::input(format!("none of the models beside {} has losses", config.baseline))
            .hint("predictions have losses if their column `loss` tells them"));
    }
    if compared.is_empty() {
        return Err(Failure::input(format!("all scores are of {}: nothing to compare it with", config.baseline)));
    }
    Ok(compared)
}

fn one(
    model: &Model,
    runs: &Runs,
    beside: &Runs,
    config: &Config,
    after: impl FnMut(u64) -> Result<(), Failure>,
) -> Result<Comparison, Failure> {
    let counts = (runs.labels.len(), beside.labels.len());
    let difference = |(a, b): (&Game, &Game)| (a.positions, a.loss / counts.0 as f64 - b.loss / counts.1 as f64);
    let pairs: Vec<_> = runs.games.iter().zip(&beside.games).map(difference).collect();
    let finite = pairs.iter().all(|(_, difference)| difference.is_finite());
    let lower = pairs.iter().filter(|(_, difference)| *difference < 0.0).count();
    let interval =
        if finite { Some(interval(&pairs, config.confidence, config.resamples, config.seed, after)?) } else { None };
    Ok(Comparison {
        model: model.clone(),
        baseline: config.baseline.clone(),
        test: model.test.clone(),
        games: pairs.len(),
        positions: pairs.iter().map(|(positions, _)| positions).sum(),
        runs: counts,
        losses: (runs.loss(), beside.loss()),
        difference: mean(&pairs),
        interval,
        lower_games: lower as f64 / pairs.len() as f64,
    })
}

impl Comparison {
    /// As it stands in the file (docs/formats.md, "differences").
    pub fn json(&self, config: &Config) -> Value {
        json!({
            "baseline": self.baseline,
            "family": self.model.family,
            "size": self.model.size,
            "variant": self.model.variant,
            "test": self.test,
            "games": self.games,
            "positions": self.positions,
            "runs": self.runs.0,
            "baseline_runs": self.runs.1,
            "loss": number(self.losses.0),
            "baseline_loss": number(self.losses.1),
            "difference": number(self.difference),
            "low": self.interval.map(|(low, _)| low),
            "high": self.interval.map(|(_, high)| high),
            "confidence": config.confidence,
            "lower_games": self.lower_games,
        })
    }

    /// Whether the loss is lower, and the whole interval below 0.
    pub fn is_lower(&self) -> bool {
        self.interval.is_some_and(|(_, high)| high < 0.0)
    }

    /// `slice d64/l1 on held_out: -0.0312 [-0.0340, -0.0285] over 250 games`.
    pub fn words(&self) -> String {
        let interval = match self.interval {
            Some((low, high)) => format!("[{low:.4}, {high:.4}]"),
            None => "without an interval, since losses are not finite,".to_owned(),
        };
        let (name, test) = (self.model.name(), &self.test);
        format!("{name} on {test}: {:+.4} {interval} over {} games", self.difference, self.games)
    }
}

/// JSON has no numbers that are not finite; they are text.
fn number(value: f64) -> Value {
    match value {
        _ if value.is_nan() => json!("nan"),
        f64::INFINITY => json!("inf"),
        f64::NEG_INFINITY => json!("-inf"),
        _ => json!(value),
    }
}
