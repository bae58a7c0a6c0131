//! The probe: fresh models of both tasks, whose boards are read from the stream.

use cwm_chess::sample;
use cwm_contract::{Failure, Label, Parameters, ProbeContext, ProbeOutput};
use cwm_inside::ModelTask;
use cwm_inside::sample::write_checkpoint;
use cwm_models::families;

use crate::LinearProbe;
use crate::config::Config;

/// Tokens of the longest game that is read.
const TOKENS: u64 = 24;

/// Reads boards from made-up models: of the family that is named, or of one for each task.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let config = Config::read(context.values())
        .map_err(|fault| Failure::input(format!("parameter `{}` {}", fault.parameter, fault.message)))?;
    let [train, test] = ["train", "test"].map(|name| context.folder().join(name));
    sample::write_train_and_test(&train, &test)?;
    let mut probed = ProbeOutput::new();
    let all = families::FAMILIES.iter().map(|family| family.name);
    for family in all.filter(|name| config.family.as_deref().is_none_or(|family| family == *name)) {
        for (task, name) in [(ModelTask::Moves, "moves"), (ModelTask::State, "state")] {
            let name = format!("{family}-{name}");
            let checkpoint = context.folder().join(&name);
            write_checkpoint(&checkpoint, task, family, "d32/l1", 7)?;
            let inputs = [("checkpoint", checkpoint), ("train", train.clone()), ("test", test.clone())];
            let inputs = inputs.map(|(name, path)| (name, Label::stage(name), path));
            let values = context.values_with([
                ("epochs", context.at_most("epochs", 2)),
                ("resamples", context.at_most("resamples", 10)),
                ("batch_size", context.at_most("batch_size", 32)),
                ("max_tokens", cwm_contract::Value::Int(i128::from(config.max_tokens.unwrap_or(TOKENS).min(TOKENS)))),
                ("layers", cwm_contract::Value::List(Vec::new())),
            ]);
            probed.extend(context.run(&LinearProbe, &name, &values, &inputs)?);
        }
    }
    Ok(probed)
}

#[cfg(test)]
mod tests {
    use cwm_contract::{Value, Values, testing};

    use super::*;

    #[test]
    fn models_of_both_tasks_are_read_and_the_same_comes_twice() {
        let probe = |given: &[(&str, &str)]| {
            let folder = tempfile::tempdir().unwrap();
            let value = |text: &str| Value::Text(text.to_owned());
            let values: Values = given.iter().map(|(name, text)| ((*name).to_owned(), value(text))).collect();
            testing::probe(&LinearProbe, values, folder.path()).unwrap().unwrap()
        };
        let one = probe(&[("family", "gpt")]);
        assert_eq!(one.len(), 6, "{:?}", one.keys());
        assert!(!one.keys().any(|name| name.ends_with("refused")), "{:?}", one.keys());
        assert_eq!(one, probe(&[("family", "gpt")]));
        assert_ne!(one, probe(&[("family", "gpt"), ("labels", "shuffled")]));
    }
}
