//! The stage: every scores file through the same queries.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cwm_contract::{
    Context, Failure, Format, GroupInput, Input, Needs, Output, ParameterSpec, Parameters, ProbeContext, ProbeOutput,
    Stage, Values,
};

use crate::Config;
use crate::bootstrap::{ScoreIntervals, bootstrap_intervals};
use crate::identity::Identity;
use crate::output::{write_errors, write_overall, write_prefix};
use crate::probe::probe;
use crate::query::{Metrics, Queries, measure};
use crate::scores_file::ScoresFile;
use crate::training::Training;

/// Metrics overall and by prefix length, for each scored label.
pub struct Bins;

impl Stage for Bins {
    fn kind(&self) -> &'static str {
        "bins"
    }

    fn description(&self) -> &'static str {
        "computes the metrics over all positions and per prefix bin with their intervals, and which labels go wrong"
    }

    fn inputs(&self) -> Vec<Input> {
        vec![Input::many("scores", Format::SCORES, "scores of each model on each test set")]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::folder("bins", Format::BINS, "metrics overall and per prefix bin, and errors by label")]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn needs(&self, _values: &Values) -> Needs {
        Needs { cpu: None, ..Needs::default() }
    }

    fn probe(&self, context: &ProbeContext) -> Result<Option<ProbeOutput>, Failure> {
        probe(context).map(Some)
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        let config: Config = context.parameters()?;
        let inputs = context.group("scores");
        if inputs.is_empty() {
            return Err(Failure::input("there are no scores"));
        }
        let measured = measure_all(context, inputs, &config)?;
        Identity::check_test_sets(measured.iter().map(|scored| &scored.identity))?;
        check_same_games(&measured)?;
        let folder = context.output("bins")?;
        std::fs::create_dir_all(folder).map_err(|error| Failure::io("make", folder, error))?;
        write_overall(&folder.join("overall.parquet"), &measured)?;
        write_prefix(&folder.join("prefix.parquet"), &measured)?;
        write_errors(&folder.join("errors.parquet"), &measured)
    }
}

/// All that is known of one scored label.
pub(crate) struct ScoredMetrics {
    pub(crate) identity: Identity,
    pub(crate) training: Training,
    /// The metrics, without the sums of its games that the intervals are made of.
    pub(crate) metrics: Metrics,
    pub(crate) intervals: ScoreIntervals,
}

/// Checks that all models of a test set were scored on equally many games and positions: tables compare them.
fn check_same_games(all: &[ScoredMetrics]) -> Result<(), Failure> {
    let mut first: BTreeMap<&str, &ScoredMetrics> = BTreeMap::new();
    let counts = |scored: &ScoredMetrics| (scored.metrics.overall.games, scored.metrics.overall.positions);
    for scored in all {
        let test = &scored.identity.model.test;
        let other = *first.entry(test).or_insert(scored);
        let ((games, positions), (others, other_positions)) = (counts(scored), counts(other));
        if (games, positions) != (others, other_positions) {
            let (label, other) = (&scored.identity.label, &other.identity.label);
            return Err(Failure::input(format!(
                "{label} and {other} were not scored on the same games of {test}: {games} games with {positions} positions, \
                 and {others} with {other_positions}"
            ))
            .hint("give both the same games, or name those of one with `with: { test: NAME }` of its stage `evaluate`"));
        }
    }
    Ok(())
}

/// All inputs, in their order. Each core takes one file at a time: a file is read by one thread in its own order, so
/// memory does not grow with the number of files, and nothing depends on the number of cores.
fn measure_all(context: &Context, inputs: &[GroupInput], config: &Config) -> Result<Vec<ScoredMetrics>, Failure> {
    let next = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<ScoredMetrics, Failure>>>> = inputs.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..context.cores().min(inputs.len()) {
            scope.spawn(|| {
                while let Some(index) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|index| *index < inputs.len())
                {
                    let result = measure_one(context, &inputs[index], config);
                    *results[index].lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(result);
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    context.progress(done as u64, Some(inputs.len() as u64), "scores");
                }
            });
        }
    });
    // In the inputs' order, so that the failure reported is the same one whichever thread was first.
    results
        .into_iter()
        .map(|slot| slot.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()))
        .map(|result| result.unwrap_or_else(|| Err(Failure::internal("a scores file was left out"))))
        .collect()
}

fn measure_one(context: &Context, input: &GroupInput, config: &Config) -> Result<ScoredMetrics, Failure> {
    context.check_cancelled()?;
    let file = ScoresFile::open(&input.label, &input.path)?;
    let identity = Identity::of(&input.label, &file.model)?;
    let training = Training::of(&input.label, &file.model)?;
    let queries = Queries { bin_width: config.bin_width, has_labels: file.has_labels, partitions: 1 };
    let mut metrics = measure(&input.label, &input.path, queries)?;
    let sums = std::mem::take(&mut metrics.sums);
    let intervals = bootstrap_intervals(&sums, config.resamples, config.seed, &|| context.check_cancelled())?;
    Ok(ScoredMetrics { identity, training, metrics, intervals })
}
