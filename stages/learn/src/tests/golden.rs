//! Three updates of nanoGPT in PyTorch, on the fixtures of the paper on boards and moves.

use cwm_contract::testing::shared;
use cwm_contract::{Parameters, Stage, Value, Values};
use cwm_models::parameters::Weights;
use cwm_sequences::{NO_LOSS, Vocabulary};
use cwm_training::curves::CurvesPrefix;
use cwm_training::{State, checkpoints};
use safetensors::SafeTensors;

use super::{Row, curves, text, trial, write};
use crate::Learn;
use crate::config::Config;
use crate::task::ChoiceTask;

fn wholes(tensors: &SafeTensors<'_>, name: &str) -> Vec<i64> {
    let bytes = tensors.tensor(name).unwrap().data().chunks_exact(8);
    bytes.map(|bytes| i64::from_le_bytes(bytes.try_into().unwrap())).collect()
}

/// The sequences of a fixture.
fn rows(tensors: &SafeTensors<'_>) -> Vec<Row> {
    let [ids, lengths, targets] = ["input.ids", "input.lengths", "input.targets"].map(|name| wholes(tensors, name));
    let time = ids.len() / lengths.len();
    let row = |((ids, targets), length): ((&[i64], &[i64]), &i64)| {
        let length = *length as usize;
        let targets = targets[..length].iter().map(|&target| u16::try_from(target).unwrap_or(NO_LOSS));
        (ids[..length].iter().map(|&id| id as u16).collect(), targets.collect())
    };
    ids.chunks_exact(time).zip(targets.chunks_exact(time)).zip(&lengths).map(row).collect()
}

/// The parameters of a fixture.
fn weights(tensors: &SafeTensors<'_>, task: &ChoiceTask) -> Weights {
    let mut weights = task.0.initial_weights(0);
    for (index, declared) in task.0.layout().parameters().iter().enumerate() {
        let tensor = tensors.tensor(&format!("param.transformer.{}", declared.name)).unwrap();
        let values = tensor.data().chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
        weights.get_mut(index).iter_mut().zip(values).for_each(|(weight, value)| *weight = value);
    }
    weights
}

#[test]
fn three_steps_are_those_of_pytorch() {
    let Some(folder) = shared("systems/board-vs-moves-golden") else { return };
    let models: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("models.json")).unwrap()).unwrap();
    let fixtures = models["fixtures"].as_array().unwrap();
    assert_eq!(fixtures.len(), 5);
    for fixture in fixtures {
        let name = fixture["file"].as_str().unwrap();
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        let number = |key: &str| fixture[key].as_u64().unwrap();
        let form = fixture["input"].as_str().unwrap().to_owned();
        let tokens = number("vocabulary") as u16;
        let vocabulary =
            Vocabulary { form, version: 1, inputs: tokens, targets: tokens, longest: number("context") as u32 };
        let rows = rows(&tensors);
        let data = tempfile::tempdir().unwrap();
        for input in ["train", "validation"] {
            write(&data.path().join(input), &vocabulary, rows.clone());
        }

        let mask = if fixture["mask"] == "bidirectional" { "none" } else { "causal" };
        let options = [("tied", "true".to_owned()), ("mask", mask.to_owned()), ("heads", number("heads").to_string())];
        let options = options.into_iter().map(|(name, value)| (name.to_owned(), Value::Text(value))).collect();
        let given = [
            ("size", text(fixture["size"].as_str().unwrap())),
            ("options", Value::Map(options)),
            ("epochs", Value::Int(3)),
            ("batch_size", Value::Int(rows.len() as i128)),
            ("lr", Value::Float(3e-4)),
            ("schedule", text("constant")),
            ("warmup", Value::Int(0)),
            ("dropout", Value::Float(0.0)),
        ];
        let specs = Learn.parameters().into_iter();
        let mut values: Values = specs.filter_map(|spec| Some((spec.name.to_owned(), spec.default?))).collect();
        values.extend(given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let config = Config::read(&values).unwrap();

        // The stage resumes at a checkpoint of step 0.
        let task = ChoiceTask(config.network(&vocabulary).unwrap());
        let state = State::new(weights(&tensors, &task), config.hyper.adamw());
        let work = tempfile::tempdir().unwrap();
        let keep = work.path().join("checkpoints");
        std::fs::create_dir_all(&keep).unwrap();
        std::fs::write(keep.join("curves.jsonl"), "").unwrap();
        checkpoints::save(&keep, &task, &state, &CurvesPrefix::empty()).unwrap();
        trial(work.path(), data.path(), &given).run(&Learn).unwrap();

        let lines = curves(work.path()).into_iter().filter(|line| line["kind"] == "train");
        let found: Vec<[f64; 2]> =
            lines.map(|line| ["loss", "gradient_norm"].map(|name| line[name].as_f64().unwrap())).collect();
        let expected = fixture["three_updates"].as_array().unwrap();
        assert_eq!(found.len(), expected.len());
        for (step, (found, expected)) in found.iter().zip(expected).enumerate() {
            for (found, expected) in found.iter().zip(expected.as_array().unwrap()) {
                let expected = expected.as_f64().unwrap();
                assert!(
                    (found - expected).abs() <= 1e-5 * expected.max(1.0),
                    "{name}, step {step}: {found} {expected}"
                );
            }
        }
    }
}
