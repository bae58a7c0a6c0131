//! Two models, on the same games.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use cwm_contract::{Context, Failure};
use cwm_scores::metrics::{self, METRICS};
use serde_json::{Map, Value, json};

use crate::config::Config;
use crate::metric::{DECISIVE, DECISIVE_COLUMN, DECISIVE_PLURAL, key_prefix};
use crate::model::Model;
use crate::resampling::{ResampledModel, TestedDifference, resample};
use crate::runs::Runs;

/// The comparison of one model with another.
pub struct Comparison {
    model: Model,
    baseline: Model,
    games: usize,
    positions: u64,
    runs: (usize, usize),
    means: ([f64; METRICS], [f64; METRICS]),
    /// The differences by metric.
    tested: [TestedDifference; METRICS],
    /// Share of the games on which the model is lower by the decisive metric.
    lower_games: f64,
}

/// The pairs of `config`, each model with losses before what it is compared with; by test set, size, variant
/// and family.
///
/// # Errors
/// There is no baseline of that size on that test set, it has no losses or was scored on other games; nothing is to be
/// compared; or it was cancelled.
pub fn compare(context: &Context, all: &BTreeMap<Model, Runs>, config: &Config) -> Result<Vec<Comparison>, Failure> {
    let pairs = if config.is_all_pairs() { every_pair(all)? } else { pairs_with_baseline(all, config)? };
    for (model, beside) in &pairs {
        all[*beside].same_games(&all[*model])?;
    }
    let mut tests: Vec<&str> = pairs.iter().map(|(model, _)| model.test.as_str()).collect();
    tests.dedup();
    let total = tests.len() as u64 * config.resamples;
    let done = AtomicU64::new(0);
    let mut compared = Vec::new();
    for test in tests {
        let of_test = || pairs.iter().filter(|(model, _)| model.test == test);
        let mut models: Vec<&Model> = of_test().flat_map(|(model, beside)| [*model, *beside]).collect();
        models.sort();
        models.dedup();
        let runs: Vec<&Runs> = models.iter().map(|model| &all[*model]).collect();
        let resampled = resample(context, &runs, config, |more| {
            context.progress(done.fetch_add(more, Ordering::Relaxed) + more, Some(total), "resamples");
        })?;
        let resampled: BTreeMap<&Model, &ResampledModel> = models.into_iter().zip(&resampled).collect();
        for (model, beside) in of_test() {
            context.check_cancelled()?;
            compared.push(one(
                (model, &all[*model], resampled[*model]),
                (beside, &all[*beside], resampled[*beside]),
                config,
            ));
        }
    }
    Ok(compared)
}

type Pair<'a> = (&'a Model, &'a Model);

/// Every two models of a test set; the earlier one is what the later one is compared with.
fn every_pair(all: &BTreeMap<Model, Runs>) -> Result<Vec<Pair<'_>>, Failure> {
    let models: Vec<&Model> = all.iter().filter(|(_, runs)| !runs.is_empty()).map(|(model, _)| model).collect();
    let mut pairs = Vec::new();
    for (place, model) in models.iter().enumerate() {
        let earlier = models[..place].iter().filter(|earlier| earlier.test == model.test);
        pairs.extend(earlier.map(|earlier| (*model, *earlier)));
    }
    if pairs.is_empty() {
        return Err(Failure::input(format!(
            "there are no two models with {DECISIVE_PLURAL} on one test set: nothing to compare"
        )));
    }
    Ok(pairs)
}

/// Every model that is not of the baseline's family and has losses, with the baseline of its size.
fn pairs_with_baseline<'a>(all: &'a BTreeMap<Model, Runs>, config: &Config) -> Result<Vec<Pair<'a>>, Failure> {
    let others = all.iter().filter(|(model, runs)| model.family != config.baseline && !runs.is_empty());
    let pair = |(model, _): (&'a Model, &Runs)| {
        let wanted = Model { family: config.baseline.clone(), ..model.clone() };
        let (baseline, beside) = all.get_key_value(&wanted).ok_or_else(|| {
            Failure::input(format!("there are no scores of {} on {} to compare with", wanted.name(), model.test))
                .hint("`baseline` names the family; it must be there in every size that is compared")
        })?;
        if beside.is_empty() {
            let (name, test) = (baseline.name(), &model.test);
            return Err(Failure::input(format!("the scores of {name} on {test} hold no {DECISIVE_PLURAL} to compare with")).hint(
                format!("predictions have {DECISIVE_PLURAL} if they have a column `{DECISIVE_COLUMN}`; `baseline` may name another family"),
            ));
        }
        Ok((model, baseline))
    };
    let pairs: Vec<_> = others.map(pair).collect::<Result<_, Failure>>()?;
    if pairs.is_empty() && all.keys().any(|model| model.family != config.baseline) {
        return Err(Failure::input(format!("none of the models beside {} has {DECISIVE_PLURAL}", config.baseline))
            .hint(format!("predictions have {DECISIVE_PLURAL} if they have a column `{DECISIVE_COLUMN}`")));
    }
    if pairs.is_empty() {
        return Err(Failure::input(format!("all scores are of {}: nothing to compare it with", config.baseline)));
    }
    Ok(pairs)
}

type Side<'a> = (&'a Model, &'a Runs, &'a ResampledModel);

fn one((model, runs, resampled): Side<'_>, (baseline, beside, base): Side<'_>, config: &Config) -> Comparison {
    let lower = runs.sums().zip(beside.sums()).filter(|(model, base)| model[DECISIVE] < base[DECISIVE]).count();
    let games = runs.positions().count();
    Comparison {
        model: model.clone(),
        baseline: baseline.clone(),
        games,
        positions: runs.positions().sum(),
        runs: (runs.count(), beside.count()),
        means: (resampled.means, base.means),
        tested: std::array::from_fn(|metric| resampled.difference_from(base, metric, config.confidence)),
        lower_games: lower as f64 / games as f64,
    }
}

impl Comparison {
    /// Its line in the file (docs/formats.md, "differences").
    pub fn json(&self, config: &Config) -> Value {
        let mut line = Map::new();
        let mut set = |key: String, value: Value| _ = line.insert(key, value);
        for (side, model, runs) in [("", &self.model, self.runs.0), ("baseline_", &self.baseline, self.runs.1)] {
            let family = if side.is_empty() { "family" } else { "baseline" };
            set(family.to_owned(), json!(model.family));
            set(format!("{side}size"), json!(model.size));
            set(format!("{side}variant"), json!(model.variant));
            set(format!("{side}runs"), json!(runs));
        }
        for (place, metric) in metrics::ALL.iter().enumerate() {
            let (name, prefix) = (metric.name, key_prefix(metric));
            let tested = &self.tested[place];
            set(name.to_owned(), number(self.means.0[place]));
            set(format!("baseline_{name}"), number(self.means.1[place]));
            set(format!("{prefix}difference"), number(tested.difference));
            set(format!("{prefix}low"), json!(tested.interval.map(|(low, _)| low)));
            set(format!("{prefix}high"), json!(tested.interval.map(|(_, high)| high)));
            set(format!("{prefix}p"), json!(tested.p));
        }
        set("test".to_owned(), json!(self.model.test));
        set("games".to_owned(), json!(self.games));
        set("positions".to_owned(), json!(self.positions));
        set("confidence".to_owned(), json!(config.confidence));
        set("lower_games".to_owned(), json!(self.lower_games));
        Value::Object(line)
    }

    fn decisive(&self) -> &TestedDifference {
        &self.tested[DECISIVE]
    }

    /// Returns true if the decisive metric is lower, and the whole interval below 0.
    pub fn is_lower(&self) -> bool {
        self.decisive().interval.is_some_and(|(_, high)| high < 0.0)
    }

    /// `slice d64/l1 less transformer d64/l1 on held_out: -0.0312 [-0.0340, -0.0285] over 250 games`; what it is less
    /// is left out where that is the baseline of its own size.
    pub fn summary(&self, config: &Config) -> String {
        let tested = self.decisive();
        let interval = match tested.interval {
            Some((low, high)) => format!("[{low:.4}, {high:.4}]"),
            None => format!("without an interval, since {DECISIVE_PLURAL} are not finite,"),
        };
        let mut name = self.model.name();
        if config.is_all_pairs() {
            name += &format!(" less {}", self.baseline.name());
        }
        let test = &self.model.test;
        format!("{name} on {test}: {:+.4} {interval} over {} games", tested.difference, self.games)
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
