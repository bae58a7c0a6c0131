//! The entries that a training adds to the description of its model (`docs/formats.md`).

use serde_json::{Map, Value, json};

use crate::hyperparameters::Hyperparameters;
use crate::{Metrics, State};

/// The entries of `training` that every objective has: steps, hyper-parameters, seeds, the last validation, and the
/// best one where that is kept. `steps_per_epoch` is that of the first epoch.
pub fn describe<M: Metrics>(
    hyper: &Hyperparameters,
    (steps_per_epoch, total_steps): (u64, u64),
    state: &State<M>,
    validation: Option<&M>,
) -> Map<String, Value> {
    let mut training = hyper.described(total_steps);
    let mut insert = |name: &str, value: Value| training.insert(name.to_owned(), value);
    insert("steps", json!(state.step));
    insert("steps_per_epoch", json!(steps_per_epoch));
    insert("updates", json!(state.adamw.updates));
    insert("skipped", json!(state.skipped));
    insert("validation", json!(validation.map(entries)));
    // Marked wherever the training is named: another model than the paper would have tested.
    if hyper.keeps_best() {
        insert("checkpoint", json!(hyper.checkpoint));
        insert("checkpoint_step", json!(state.best.as_ref().map(|best| best.step)));
        insert("checkpoint_validation", json!(state.best.as_ref().map(|best| entries(&best.metrics))));
    }
    training
}

fn entries<M: Metrics>(metrics: &M) -> Value {
    metrics.entries().into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>().into()
}
