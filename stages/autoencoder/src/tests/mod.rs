//! The stage's tests.

mod golden;
mod planted;
mod refusals;
mod stage;

use std::path::Path;

use cwm_chess::sample;
use cwm_contract::Value;
use cwm_contract::testing::Trial;
use cwm_inside::ModelTask;
use cwm_inside::sample::write_checkpoint;

/// Writes a model and games.
fn inputs(folder: &Path, task: ModelTask, family: &str) {
    write_checkpoint(&folder.join("checkpoint"), task, family, "d16/l2", 7).unwrap();
    sample::write_train_and_test(&folder.join("train"), &folder.join("test")).unwrap();
}

/// A short training in `work` on inputs in `folder`.
fn trial(work: &Path, folder: &Path, more: &[(&str, Value)]) -> Trial {
    let mut trial = Trial::new(work)
        .with("ratio", Value::Int(4))
        .with("tokens", Value::Int(1500))
        .with("batch_size", Value::Int(100))
        .with("reservoir", Value::Int(400))
        .with("warmup", Value::Int(3))
        .with("sparsity_warmup", Value::Int(5))
        .with("max_tokens", Value::Int(60));
    for input in ["checkpoint", "train", "test"] {
        trial = trial.input(input, folder.join(input));
    }
    for (name, value) in more {
        trial = trial.with(name, value.clone());
    }
    trial
}
