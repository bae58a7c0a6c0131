//! The whole loop, on an objective that has nothing to do with chess: a linear regression.

use std::path::Path;
use std::process::Command;

use cwm_contract::testing::{Outcome, Trial};
use cwm_contract::{Context, Failure, FailureKind, Format, Output, ParameterSpec, Stage};
use cwm_models::device;
use cwm_models::worker_pool::WorkerPool;

use crate::order::{Batching, Order, Sampler};
use crate::schedule::{Schedule, Shape};
use crate::testing::{AllRows, HeldOutLoss, Rows, Straight, adamw, start};
use crate::warm_start::Recipe;
use crate::{Examples, Settings, State, TrainingLoop, Validation, checkpoints, curves, warm_start};

/// Rows that are trained on; the last batch of an epoch is smaller.
const ROWS: usize = 37;
const BATCH: usize = 4;
/// The step at which all these trainings are at the floor of their learning rate.
const HORIZON: u64 = 120;

/// A stage that trains the regression.
#[derive(Clone)]
struct Fit {
    name: &'static str,
    steps: u64,
    batching: Batching,
    /// The process is aborted when it makes this batch, counted from 0 in each process.
    abort_at: Option<usize>,
}

const FIT: Fit = Fit { name: "straight", steps: HORIZON, batching: Batching::Exact, abort_at: None };
const BUCKETED: Fit = Fit { batching: Batching::Bucketed { window: 3, seed: 2 }, ..FIT };

/// Ends the process without any warning in the middle of a training.
struct Mortal {
    left: Option<usize>,
}

impl Examples for Mortal {
    type MicroBatch = Rows;

    fn length(&mut self, place: usize) -> Result<usize, Failure> {
        AllRows.length(place)
    }

    fn micro_batches(&mut self, places: &[usize]) -> Result<Vec<Rows>, Failure> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1).unwrap_or_else(|| std::process::abort());
        }
        AllRows.micro_batches(places)
    }
}

impl Stage for Fit {
    fn kind(&self) -> &'static str {
        "fit"
    }

    fn description(&self) -> &'static str {
        "Fits a straight line."
    }

    fn inputs(&self) -> Vec<cwm_contract::Input> {
        vec![cwm_contract::Input::optional("state", Format::named("state"), "A shorter training.")]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::folder("state", Format::named("state"), "All that the training ended with.")]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Vec::new()
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        let (objective, device) = (Straight::new().named(self.name), device::cpu());
        let workers = WorkerPool::new(context.cores())?;
        let settings = Settings {
            total_steps: self.steps,
            batching: self.batching,
            schedule: Schedule { shape: Shape::Cosine, rate: 0.1, warmup: 5, horizon: HORIZON, floor: 0.1 },
            adamw: adamw(),
            clip: 1.0,
            precision: Default::default(),
            dropout_seed: None,
            validation_every: 7,
            checkpoint_every: 10,
            curve_every: 2,
            keeps_best: true,
        };
        let recipe =
            Recipe { parameters: Default::default(), horizon: Some(HORIZON), train: String::new(), validation: None };
        let start = match (checkpoints::load(context, &objective, settings.adamw)?, context.optional_input("state")) {
            (Some(resumed), _) => resumed,
            (None, Some(state)) => {
                warm_start::read(context, state, &objective, settings.adamw, &recipe, settings.total_steps)?
            }
            (None, None) => (State::new(start(&objective), settings.adamw), curves::CurvesPrefix::empty()),
        };
        let sampler = Sampler::new(ROWS, BATCH, Order::Shuffled { seed: 1 });
        let validation: Option<Box<dyn Validation<f64>>> = Some(Box::new(HeldOutLoss(&objective)));
        let mut run =
            TrainingLoop::begin(context, &objective, settings, sampler, validation, (&device, &workers), start)?;
        run.train(Mortal { left: self.abort_at })?;
        let (state, prefix) = run.synced()?;
        let curves = checkpoints::curves_path(context.checkpoint_dir());
        warm_start::write(context.output("state")?, &objective, (state, &prefix), Some(recipe), &curves)?;
        run.finish().map(|_| ())
    }
}

fn fit(folder: &Path, fit: &Fit) -> Outcome {
    Trial::new(folder).run(fit).unwrap()
}

/// Every bit that a training ended with: weights, moments, counts, the best weights and the curves.
fn result(folder: &Path) -> [Vec<u8>; 2] {
    ["state.safetensors", "curves.jsonl"].map(|file| std::fs::read(folder.join("out/state").join(file)).unwrap())
}

fn last_loss(folder: &Path) -> f64 {
    let curves = std::fs::read_to_string(folder.join("out/state/curves.jsonl")).unwrap();
    let line: serde_json::Value = serde_json::from_str(curves.lines().last().unwrap()).unwrap();
    line["loss"].as_f64().unwrap()
}

#[test]
fn a_line_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = fit(folder.path(), &FIT);
    assert!(last_loss(folder.path()) < 1e-2, "{}", last_loss(folder.path()));
    assert!(outcome.metrics["validation_loss"] < 1e-2 && outcome.metrics["steps_per_second"] > 0.0);
    // One core or two, one pass or several micro-batches at once: the same bits.
    let other = tempfile::tempdir().unwrap();
    Trial::new(other.path()).cores(1).run(&FIT).unwrap();
    assert!(result(folder.path()) == result(other.path()));
}

/// Set for a process that this test starts to be killed.
const CHILD: &str = "CWM_TRAINING_CHILD";

#[test]
fn a_killed_training_resumes_bit_for_bit() {
    if let Ok(child) = std::env::var(CHILD) {
        let (at, folder) = child.split_once(' ').unwrap();
        let fits = [FIT, BUCKETED];
        let of = &fits[usize::from(folder.ends_with("bucketed"))];
        fit(Path::new(folder), &Fit { abort_at: Some(at.parse().unwrap()), ..of.clone() });
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, of) in [("exact", FIT), ("bucketed", BUCKETED)] {
        let (whole, killed) =
            (folder.path().join(format!("whole-{name}")), folder.path().join(format!("killed-{name}")));
        fit(&whole, &of);
        // Before the first checkpoint, soon after one, and several later.
        for at in [3, 17, 12, 41] {
            let child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "tests::a_killed_training_resumes_bit_for_bit"])
                .env(CHILD, format!("{at} {}", killed.display()))
                .output()
                .unwrap();
            assert!(child.status.code().is_none(), "a child was to be killed at batch {at}: {child:?}");
        }
        let resumed = fit(&killed, &of);
        let first = resumed.events.iter().find_map(|event| match event {
            cwm_contract::Event::Progress { done, .. } => Some(*done),
            _ => None,
        });
        assert!(first.is_some_and(|first| first > 30), "{name}: it began anew at step {first:?}");
        assert!(result(&killed) == result(&whole), "{name}");
    }
}

#[test]
fn a_longer_training_starts_from_a_shorter_one() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, short, long) = (folder.path().join("whole"), folder.path().join("short"), folder.path().join("long"));
    fit(&whole, &FIT);
    fit(&short, &Fit { steps: 50, ..FIT });
    Trial::new(&long).input("state", short.join("out/state")).run(&FIT).unwrap();
    assert!(result(&long) == result(&whole));
}

#[test]
fn the_checkpoint_of_another_task_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fit(folder.path(), &FIT);
    let failure = Trial::new(folder.path()).run(&Fit { name: "curved", ..FIT }).map(|_| ()).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Input);
    assert!(failure.message.starts_with("cannot resume from "), "{failure}");
}
