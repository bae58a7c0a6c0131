//! Updates of an independent program (PyTorch's AdamW).

use cwm_contract::testing::shared;
use cwm_inside::RowsWriter;
use cwm_inside::linear_probe::{Block, LinearProbe};
use cwm_training::optimiser::AdamWOptions;
use safetensors::SafeTensors;

use crate::inputs::{Form, Inputs};
use crate::train::train_block;

#[test]
fn five_updates_are_those_of_pytorch() {
    let Some(folder) = shared("systems/inside-models-golden") else { return };
    let bytes = std::fs::read(folder.join("linear-probe.safetensors")).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let floats = |name: &str| -> Vec<f32> {
        let tensor = file.tensor(name).unwrap();
        tensor.data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    };
    let manifest = std::fs::read(folder.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let fixtures = manifest["fixtures"].as_array().unwrap();
    let trace = &fixtures.iter().find(|fixture| fixture["file"] == "linear-probe.safetensors").unwrap()["train_trace"];
    let number = |name: &str| trace[name].as_f64().unwrap();
    let [beta1, beta2, epsilon, weight_decay] = ["beta1", "beta2", "epsilon", "weight_decay"].map(number);

    let scratch = tempfile::tempdir().unwrap();
    let mut writer = RowsWriter::create(scratch.path(), "x", 1, 24).unwrap();
    writer.push(&[floats("input.x")]).unwrap();
    let (rows, form) = (writer.finish().unwrap(), Form::Stream(1.0));
    let inputs = Inputs { rows: &rows, site: 0, form: &form };
    let labels = file.tensor("input.labels").unwrap().data().to_vec();
    let labels = |row: usize, into: &mut Vec<u8>| into.extend_from_slice(&labels[row * 64..(row + 1) * 64]);
    let mut probe = LinearProbe::new(13, 24, floats("param.weight"));
    let initial = probe.clone();
    let mut losses = [0.0; 5];
    for block in Block::all(13, 24) {
        let options = AdamWOptions { beta1, beta2, epsilon, weight_decay };
        let step = |step: u64| Ok(((48 * step as usize..48 * (step as usize + 1)).collect(), number("lr")));
        let (part, found) = train_block(&inputs, &labels, block, &initial, options, 5, step).unwrap();
        losses.iter_mut().zip(found).for_each(|(sum, loss)| *sum += loss / (48.0 * 64.0));
        block.scatter(&part, probe.weight_mut());
    }
    let expected = trace["losses"].as_array().unwrap();
    assert_eq!(expected.len(), 5);
    for (found, expected) in losses.iter().zip(expected) {
        let expected = expected.as_f64().unwrap();
        assert!((found - expected).abs() < 1e-5 * expected, "{found} where {expected} was expected");
    }
    let after = floats("after_5.weight");
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>().sqrt();
    let wide = |value: &f32| f64::from(*value);
    let difference = norm(&mut probe.weight().iter().zip(&after).map(|(found, after)| wide(found) - wide(after)));
    let whole = norm(&mut after.iter().map(wide));
    assert!(difference <= 1e-5 * whole, "a difference of {difference} to {whole}");
}
