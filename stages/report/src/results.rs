//! The bins, gathered by model and test set: several seeds of one model become one result.

use std::collections::{BTreeMap, BTreeSet};

use cwm_contract::{Failure, Label};
use polars::prelude::{
    Column, DataFrame, IntoLazy, PlSmallStr, PolarsError, PolarsResult, Series, SortMultipleOptions, col, polars_err,
};

use crate::model::Model;
use crate::plain_text::visible;
use crate::read::bins::Bins;
use crate::settings::Settings;
use crate::spread::Spread;
use crate::test_set::TestSet;
use crate::training::{BEST, DIVERGED, Departures, Training, trainings};

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
    pub(crate) loss: Option<Spread>,
    /// Accuracies are fractions, 0 to 1.
    pub(crate) labelwise: Spread,
    pub(crate) exact: Spread,
    pub(crate) trajectory: Spread,
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
    pub(crate) loss: Option<Spread>,
    /// Accuracies are fractions, 0 to 1.
    pub(crate) labelwise: Spread,
    pub(crate) exact: Spread,
    pub(crate) trajectory: Spread,
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
    pub(crate) labelwise: Spread,
    pub(crate) exact: Spread,
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

    let overall = group(&bins.overall, &results, &keys, &["model", "test_set"])?;
    for row in 0..overall.height() {
        let key = group_key(&overall, row)?;
        let games = counts(&overall, "games", row)?;
        let parameters = &mut results.parameters[key.0];
        *parameters = parameters.or(counts(&overall, "parameters", row)?.first().copied());
        let each = runs(&overall, row)?;
        let over = |read: fn(&Run) -> Spread| Spread::over(&each.iter().map(read).collect::<Vec<_>>());
        let losses: Vec<Spread> = each.iter().filter_map(|run| run.loss).collect();
        let entry = Overall {
            runs: each.len(),
            departures: Departures {
                diverged: each.iter().filter(|run| run.diverged).count(),
                best: each.iter().filter(|run| run.best).count(),
            },
            games: games.into_iter().max().unwrap_or(0),
            positions: counts(&overall, "positions", row)?.into_iter().max().unwrap_or(0),
            // Predictions of another program may tell no loss.
            loss: (!losses.is_empty()).then(|| Spread::over(&losses)),
            labelwise: over(|run| run.labelwise),
            exact: over(|run| run.exact),
            trajectory: over(|run| run.trajectory),
            each,
        };
        results.overall.insert(key, entry);
    }

    let prefix = group(&bins.prefix, &results, &keys, &["model", "test_set", "bin_start", "bin_end"])?;
    for row in 0..prefix.height() {
        let positions = counts(&prefix, "positions", row)?;
        let edge = |name: &str| Ok::<_, PolarsError>(prefix.column(name)?.u64()?.get(row).unwrap_or(0));
        let bin = PrefixBin {
            start: edge("bin_start")?,
            end: edge("bin_end")?,
            runs: positions.len(),
            labels: list(&prefix, "label", row)?.str()?.iter().flatten().map(visible).collect(),
            positions: positions.into_iter().max().unwrap_or(0),
            labelwise: Spread::over(&spreads(&prefix, "labelwise", row)?.into_iter().flatten().collect::<Vec<_>>()),
            exact: Spread::over(&spreads(&prefix, "exact", row)?.into_iter().flatten().collect::<Vec<_>>()),
        };
        results.prefix.entry(group_key(&prefix, row)?).or_default().push(bin);
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

/// Rows with the same keys become one, every other column a list in the order of seed and label. Means are taken
/// from these lists in plain code: a sum that Polars spreads over threads may differ in its last digit.
fn group(frame: &DataFrame, results: &Results, keys: &Keys, by: &[&str]) -> PolarsResult<DataFrame> {
    let labels = texts(frame, "label")?;
    let mut places = Vec::new();
    for label in &labels {
        let place = keys.get(label).and_then(|(model, test)| {
            Some((results.models.iter().position(|known| known == model)? as u32, results.test(test)? as u32))
        });
        places.push(place.ok_or_else(|| polars_err!(NoData: "`{label}` is in prefix.parquet only"))?);
    }
    let (models, tests): (Vec<u32>, Vec<u32>) = places.into_iter().unzip();
    let mut frame = frame.clone();
    let listed: Vec<_> = frame
        .get_column_names()
        .into_iter()
        .filter(|name| !by.contains(&name.as_str()))
        .map(|name| col(name.clone()))
        .collect();
    frame.with_column(Column::new("model".into(), models))?;
    frame.with_column(Column::new("test_set".into(), tests))?;
    let order: Vec<PlSmallStr> = by.iter().chain(&["seed", "label"]).map(|name| PlSmallStr::from_str(name)).collect();
    let by: Vec<_> = by.iter().map(|name| col(*name)).collect();
    frame.lazy().sort(order, SortMultipleOptions::default()).group_by_stable(by).agg(listed).collect()
}

fn group_key(frame: &DataFrame, row: usize) -> PolarsResult<(usize, usize)> {
    let index = |name: &str| Ok::<_, PolarsError>(frame.column(name)?.u32()?.get(row).unwrap_or(0) as usize);
    Ok((index("model")?, index("test_set")?))
}

/// The values of a column of texts.
pub(crate) fn texts(frame: &DataFrame, name: &str) -> PolarsResult<Vec<String>> {
    Ok(frame.column(name)?.str()?.iter().flatten().map(str::to_owned).collect())
}

/// The list in one row of a grouped column.
fn list(frame: &DataFrame, name: &str, row: usize) -> PolarsResult<Series> {
    frame.column(name)?.list()?.get_as_series(row).ok_or_else(|| polars_err!(NoData: "no runs in row {row}"))
}

fn counts(frame: &DataFrame, name: &str, row: usize) -> PolarsResult<Vec<u64>> {
    Ok(list(frame, name, row)?.u64()?.iter().flatten().collect())
}

/// Values of a column of numbers, a run each.
fn numbers(frame: &DataFrame, name: &str, row: usize) -> PolarsResult<Vec<Option<f64>>> {
    Ok(list(frame, name, row)?.f64()?.iter().collect())
}

/// A metric of each run, with its interval where that is known.
fn spreads(frame: &DataFrame, name: &str, row: usize) -> PolarsResult<Vec<Option<Spread>>> {
    let (low, high) = (numbers(frame, &format!("{name}_low"), row)?, numbers(frame, &format!("{name}_high"), row)?);
    let values = numbers(frame, name, row)?.into_iter();
    let spread = |(value, interval): (Option<f64>, _)| value.map(|mean| Spread { mean, deviation: None, interval });
    Ok(values.zip(low.into_iter().zip(high).map(|(low, high)| low.zip(high))).map(spread).collect())
}

/// The runs in one row of the grouped table of whole test sets.
fn runs(frame: &DataFrame, row: usize) -> PolarsResult<Vec<Run>> {
    let (labels, statuses) = (list(frame, "label", row)?, list(frame, "status", row)?);
    let (labels, statuses) = (labels.str()?, statuses.str()?);
    let (checkpoints, validated) = (list(frame, "checkpoint", row)?, list(frame, "validated_on_test", row)?);
    let (checkpoints, validated) = (checkpoints.str()?, validated.bool()?);
    let seeds: Vec<Option<i64>> = list(frame, "seed", row)?.i64()?.iter().collect();
    let metrics = ["loss", "labelwise", "exact", "trajectory"].map(|name| spreads(frame, name, row));
    let [losses, labelwise, exact, trajectory] = metrics;
    let (losses, labelwise, exact, trajectory) = (losses?, labelwise?, exact?, trajectory?);
    let settings = Settings::NAMES.map(|name| numbers(frame, name, row));
    let settings = settings.into_iter().collect::<PolarsResult<Vec<_>>>()?;
    let known = |metric: &[Option<Spread>], at: usize| {
        metric[at].ok_or_else(|| polars_err!(NoData: "a metric of run {at} in row {row} is unknown"))
    };
    (0..labels.len())
        .map(|at| {
            Ok(Run {
                label: visible(labels.get(at).unwrap_or_default()),
                seed: seeds[at],
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
