//! The probe: short trainings on fresh models of both tasks, with several blocks of rows and games that are too long.

use cwm_chess::sample;
use cwm_contract::{Failure, Label, ProbeContext, ProbeOutput, Value};
use cwm_inside::Task;
use cwm_inside::sample::write_checkpoint;

use crate::AutoencoderStage;

/// Runs the stage on the sample's games.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let games = sample::games();
    let [train, test] = ["train", "test"].map(|name| context.folder().join(name));
    sample::write_dataset(&train, &games)?;
    sample::write_dataset(&test, games.iter().rev().take(3))?;
    let values = context.values_with([
        ("layers", Value::List(Vec::new())),
        ("ratio", context.at_most("ratio", 2)),
        ("tokens", Value::Int(700)),
        ("batch_size", context.at_most("batch_size", 64)),
        ("warmup", context.at_most("warmup", 4)),
        ("sparsity_warmup", context.at_most("sparsity_warmup", 4)),
        ("dead_after", context.at_most("dead_after", 200)),
        ("reservoir", context.at_most("reservoir", 300)),
        ("test_games", Value::Int(2)),
        ("max_tokens", context.at_most("max_tokens", 100)),
        ("batch_tokens", context.at_most("batch_tokens", 500)),
    ]);
    let mut probed = ProbeOutput::new();
    for (name, task, family) in [("moves", Task::Moves, "gpt"), ("state", Task::State, "transformer")] {
        let checkpoint = context.folder().join(name);
        write_checkpoint(&checkpoint, task, family, "d16/l2", 7)?;
        let inputs = [("checkpoint", &checkpoint), ("train", &train), ("test", &test)];
        let inputs = inputs.map(|(input, path)| (input, Label::stage(input), path.clone()));
        probed.extend(context.run(&AutoencoderStage, name, &values, &inputs)?);
    }
    Ok(probed)
}
