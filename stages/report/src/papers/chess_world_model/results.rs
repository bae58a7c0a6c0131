//! The bins, gathered by model and test set: several seeds of one model become one result.

use std::collections::{BTreeMap, BTreeSet};

use cwm_contract::{Failure, Label};
use cwm_page::{MeanStd, visible};
use polars_core::prelude::{Column, DataFrame, PolarsError, PolarsResult, SortMultipleOptions, polars_err};

use crate::papers::chess_world_model::model::Model;
use crate::papers::chess_world_model::read::bins::Bins;
use crate::papers::chess_world_model::settings::Settings;
use crate::papers::chess_world_model::test_set::TestSet;
use crate::papers::chess_world_model::training::{BEST, DIVERGED, Departures, Training, trainings};

/// One training on a whole test set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Run {
    /// Which scores it is from, such as `evaluation[size=d32/l1,seed=0,test=held_out]`.
    pub(crate) label: String,
    pub(crate) seed: Option<i64>,
    /// Whether its training diverged.
    pub(crate) diverged: bool,
    /// Whether its weights are not the last, but those that did best in a validation.
    pub(crate) best: bool,
    /// Whether the test set is the games that its training was validated on.
    pub(crate) validated: bool,
    /// `None` where its scores tell none.
    pub(crate) loss: Option<MeanStd>,
    /// Accuracies are fractions, 0 to 1.
    pub(crate) labelwise: MeanStd,
    pub(crate) exact: MeanStd,
    pub(crate) trajectory: MeanStd,
    pub(crate) settings: Settings,
}

/// A model on a whole test set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Overall {
    /// Each run, by seed.
    pub(crate) each: Vec<Run>,
    /// Number of runs (seeds).
    pub(crate) runs: usize,
    /// How many of them depart from the paper's protocol.
    pub(crate) departures: Departures,
    /// Games in the test set; the largest number where runs differ.
    pub(crate) games: u64,
    /// Positions in it, START included.
    pub(crate) positions: u64,
    /// `None` where no run tells one.
    pub(crate) loss: Option<MeanStd>,
    /// Accuracies are fractions, 0 to 1.
    pub(crate) labelwise: MeanStd,
    pub(crate) exact: MeanStd,
    pub(crate) trajectory: MeanStd,
}

impl Overall {
    /// Labels of the scores that it is from.
    pub(crate) fn labels(&self) -> impl Iterator<Item = &String> {
        self.each.iter().map(|run| &run.label)
    }
}

/// A model on the positions with t in start..end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PrefixBin {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Number of runs (seeds).
    pub(crate) runs: usize,
    /// Labels of the scores that it is from.
    pub(crate) labels: Vec<String>,
    pub(crate) positions: u64,
    pub(crate) labelwise: MeanStd,
    pub(crate) exact: MeanStd,
}

/// Everything that was scored. Models and test sets are in the order of the tables, and stand by index in the maps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Results {
    /// The scored labels, sorted.
    pub(crate) labels: Vec<String>,
    pub(crate) models: Vec<Model>,
    /// Parameter count of each model, where it is known.
    pub(crate) parameters: Vec<Option<u64>>,
    pub(crate) tests: Vec<TestSet>,
    pub(crate) trainings: Vec<Training>,
    pub(crate) overall: BTreeMap<(usize, usize), Overall>,
    /// In order of their start.
    pub(crate) prefix: BTreeMap<(usize, usize), Vec<PrefixBin>>,
}

impl Results {
    /// Gathers the two tables.
    ///
    /// # Errors
    /// Polars cannot; that is a mistake of ours, since the tables were checked.
    pub(crate) fn gather(bins: Bins) -> Result<Self, Failure> {
        let failed = |error| Failure::internal(format!("cannot gather the bins: {error}"));
        gather(bins).map_err(failed)
    }

    /// Index of a test set, if any model was scored on it.
    pub(crate) fn test(&self, wanted: &TestSet) -> Option<usize> {
        self.tests.iter().position(|test| test == wanted)
    }

    /// Width of the bins; all have the same.
    pub(crate) fn bin_width(&self) -> u64 {
        self.prefix.values().flatten().next().map_or(0, |bin| bin.end - bin.start)
    }
}

/// Model and test set of each label.
type Keys = BTreeMap<String, (Model, TestSet)>;

fn gather(bins: Bins) -> PolarsResult<Results> {
    let keys = keys(&bins.overall)?;
    let models: BTreeSet<Model> = keys.values().map(|(model, _)| model.clone()).collect();
    let tests: BTreeSet<TestSet> = keys.values().map(|(_, test)| test.clone()).collect();
    let mut results = Results {
        labels: keys.keys().map(|label| visible(label)).collect(),
        parameters: vec![None; models.len()],
        models: models.into_iter().collect(),
        trainings: trainings(&bins.overall)?,
        tests: tests.into_iter().collect(),
        ..Results::default()
    };

    for group in groups(&bins.overall, &results, &keys, &["model", "test_set"])? {
        let key = group_key(&group)?;
        let parameters = &mut results.parameters[key.0];
        *parameters = parameters.or(counts(&group, "parameters")?.first().copied());
        let each = runs(&group)?;
        let over = |read: fn(&Run) -> MeanStd| MeanStd::over(&each.iter().map(read).collect::<Vec<_>>());
        let losses: Vec<MeanStd> = each.iter().filter_map(|run| run.loss).collect();
        let entry = Overall {
            runs: each.len(),
            departures: Departures {
                diverged: each.iter().filter(|run| run.diverged).count(),
                best: each.iter().filter(|run| run.best).count(),
            },
            games: counts(&group, "games")?.into_iter().max().unwrap_or(0),
            positions: counts(&group, "positions")?.into_iter().max().unwrap_or(0),
            // Predictions of another program may tell no loss.
            loss: (!losses.is_empty()).then(|| MeanStd::over(&losses)),
            labelwise: over(|run| run.labelwise),
            exact: over(|run| run.exact),
            trajectory: over(|run| run.trajectory),
            each,
        };
        results.overall.insert(key, entry);
    }

    for group in groups(&bins.prefix, &results, &keys, &["model", "test_set", "bin_start", "bin_end"])? {
        let edge = |name: &str| Ok::<_, PolarsError>(counts(&group, name)?.first().copied().unwrap_or(0));
        let over = |name: &str| {
            let each: Vec<MeanStd> = metric(&group, name)?.into_iter().flatten().collect();
            Ok::<_, PolarsError>(MeanStd::over(&each))
        };
        let bin = PrefixBin {
            start: edge("bin_start")?,
            end: edge("bin_end")?,
            runs: group.height(),
            labels: texts(&group, "label")?.iter().map(|label| visible(label)).collect(),
            positions: counts(&group, "positions")?.into_iter().max().unwrap_or(0),
            labelwise: over("labelwise")?,
            exact: over("exact")?,
        };
        results.prefix.entry(group_key(&group)?).or_default().push(bin);
    }
    Ok(results)
}

/// Where two stages scored one model, seed and test set, the stage is made a part of the model: they stay apart.
fn keys(overall: &DataFrame) -> PolarsResult<Keys> {
    let [labels, families, sizes, tests] = ["label", "family", "size", "test"].map(|name| texts(overall, name));
    let (labels, families, sizes, tests) = (labels?, families?, sizes?, tests?);
    let seeds: Vec<Option<i64>> = overall.column("seed")?.i64()?.iter().collect();
    let mut keys = Keys::new();
    let mut seen = Vec::new();
    let mut clash = false;
    for (row, label) in labels.into_iter().enumerate() {
        let model = Model::new(&visible(&label), &visible(&families[row]), &visible(&sizes[row]));
        let test = TestSet::from_name(&visible(&tests[row]));
        let run = (model.clone(), test.clone(), seeds[row]);
        clash |= seen.contains(&run);
        seen.push(run);
        keys.insert(label, (model, test));
    }
    if clash {
        for (label, (model, _)) in &mut keys {
            let stage = label.parse::<Label>().map_or_else(|_| label.clone(), |label| label.stage);
            model.coordinates.insert(0, ("stage".to_owned(), visible(&stage)));
        }
    }
    Ok(keys)
}

/// The rows of each group that have the same numbers in the columns `by`, in the order of seed and label. Means are taken in
/// that order, in plain code: a sum that Polars spreads over threads may differ in its last digit.
fn groups(frame: &DataFrame, results: &Results, keys: &Keys, by: &[&str]) -> PolarsResult<Vec<DataFrame>> {
    let mut places = Vec::new();
    for label in texts(frame, "label")? {
        let place = keys.get(&label).and_then(|(model, test)| {
            Some((results.models.iter().position(|known| known == model)? as u64, results.test(test)? as u64))
        });
        places.push(place.ok_or_else(|| polars_err!(NoData: "`{label}` is in prefix.parquet only"))?);
    }
    let (models, tests): (Vec<u64>, Vec<u64>) = places.into_iter().unzip();
    let mut frame = frame.clone();
    frame.with_column(Column::new("model".into(), models))?;
    frame.with_column(Column::new("test_set".into(), tests))?;
    let frame = frame.sort(by.iter().chain(&["seed", "label"]), SortMultipleOptions::default())?;
    let columns = by.iter().map(|name| counts(&frame, name)).collect::<PolarsResult<Vec<_>>>()?;
    let rows: Vec<Vec<u64>> =
        (0..frame.height()).map(|row| columns.iter().map(|column| column[row]).collect()).collect();
    let mut start = 0;
    let group = |same: &[Vec<u64>]| {
        start += same.len();
        frame.slice((start - same.len()) as i64, same.len())
    };
    Ok(rows.chunk_by(|one, next| one == next).map(group).collect())
}

fn group_key(group: &DataFrame) -> PolarsResult<(usize, usize)> {
    let index = |name: &str| Ok::<_, PolarsError>(counts(group, name)?.first().copied().unwrap_or(0) as usize);
    Ok((index("model")?, index("test_set")?))
}

/// The values of a column of texts.
pub(crate) fn texts(frame: &DataFrame, name: &str) -> PolarsResult<Vec<String>> {
    Ok(frame.column(name)?.str()?.iter().flatten().map(str::to_owned).collect())
}

/// The known values of a column of counts.
fn counts(frame: &DataFrame, name: &str) -> PolarsResult<Vec<u64>> {
    Ok(frame.column(name)?.u64()?.iter().flatten().collect())
}

/// Values of a column of numbers, a run each.
fn numbers(frame: &DataFrame, name: &str) -> PolarsResult<Vec<Option<f64>>> {
    Ok(frame.column(name)?.f64()?.iter().collect())
}

/// A metric of each run, with its interval where that is known.
fn metric(frame: &DataFrame, name: &str) -> PolarsResult<Vec<Option<MeanStd>>> {
    let (low, high) = (numbers(frame, &format!("{name}_low"))?, numbers(frame, &format!("{name}_high"))?);
    let values = numbers(frame, name)?.into_iter();
    let of_run = |(value, interval): (Option<f64>, _)| value.map(|mean| MeanStd { mean, deviation: None, interval });
    Ok(values.zip(low.into_iter().zip(high).map(|(low, high)| low.zip(high))).map(of_run).collect())
}

/// The runs of a group of rows about whole test sets.
fn runs(group: &DataFrame) -> PolarsResult<Vec<Run>> {
    let column = |name: &str| group.column(name);
    let (labels, statuses) = (column("label")?.str()?, column("status")?.str()?);
    let (checkpoints, validated) = (column("checkpoint")?.str()?, column("validated_on_test")?.bool()?);
    let seeds = column("seed")?.i64()?;
    let [losses, labelwise, exact, trajectory] =
        ["loss", "labelwise", "exact", "trajectory"].map(|name| metric(group, name));
    let (losses, labelwise, exact, trajectory) = (losses?, labelwise?, exact?, trajectory?);
    let settings = Settings::NAMES.into_iter().map(|name| numbers(group, name)).collect::<PolarsResult<Vec<_>>>()?;
    let known = |metric: &[Option<MeanStd>], at: usize| {
        metric[at].ok_or_else(|| polars_err!(NoData: "a metric of {:?} is unknown", labels.get(at)))
    };
    (0..group.height())
        .map(|at| {
            Ok(Run {
                label: visible(labels.get(at).unwrap_or_default()),
                seed: seeds.get(at),
                diverged: statuses.get(at) == Some(DIVERGED),
                best: checkpoints.get(at) == Some(BEST),
                validated: validated.get(at) == Some(true),
                loss: losses[at],
                labelwise: known(&labelwise, at)?,
                exact: known(&exact, at)?,
                trajectory: known(&trajectory, at)?,
                settings: Settings::of(settings.iter().map(|values| values[at])),
            })
        })
        .collect()
}
