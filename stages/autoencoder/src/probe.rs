//! The probe: short trainings on fresh models of both tasks, of the family that is named or of all, with several blocks of rows.

use cwm_chess::sample;
use cwm_contract::{Failure, Label, Parameters, ProbeContext, ProbeOutput, Value};
use cwm_inside::ModelTask;
use cwm_inside::sample::write_checkpoint;
use cwm_models::families;

use crate::AutoencoderStage;
use crate::config::Config;

/// Tokens of the longest game.
const TOKENS: u64 = 40;

/// Runs the stage on the sample's games.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let config = Config::read(context.values())
        .map_err(|fault| Failure::input(format!("parameter `{}` {}", fault.parameter, fault.message)))?;
    let [train, test] = ["train", "test"].map(|name| context.folder().join(name));
    sample::write_train_and_test(&train, &test)?;
    let values = context.values_with([
        ("layers", Value::List(Vec::new())),
        ("ratio", context.at_most("ratio", 2)),
        ("tokens", Value::Int(300)),
        ("batch_size", context.at_most("batch_size", 64)),
        ("warmup", context.at_most("warmup", 4)),
        ("sparsity_warmup", context.at_most("sparsity_warmup", 4)),
        ("dead_after", context.at_most("dead_after", 200)),
        ("reservoir", context.at_most("reservoir", 130)),
        ("test_games", Value::Int(2)),
        ("max_tokens", Value::Int(i128::from(config.max_tokens.unwrap_or(TOKENS).min(TOKENS)))),
        ("batch_tokens", context.at_most("batch_tokens", 500)),
    ]);
    let mut probed = ProbeOutput::new();
    let all = families::FAMILIES.iter().map(|family| family.name);
    for family in all.filter(|name| config.family.as_deref().is_none_or(|family| family == *name)) {
        for (task, name) in [(ModelTask::Moves, "moves"), (ModelTask::State, "state")] {
            let name = format!("{family}-{name}");
            let checkpoint = context.folder().join(&name);
            write_checkpoint(&checkpoint, task, family, "d32/l1", 7)?;
            let inputs = [("checkpoint", &checkpoint), ("train", &train), ("test", &test)];
            let inputs = inputs.map(|(input, path)| (input, Label::stage(input), path.clone()));
            probed.extend(context.run(&AutoencoderStage, &name, &values, &inputs)?);
        }
    }
    Ok(probed)
}
