//! Helpers of this crate's tests: comparisons, small checkpoints.

use std::path::Path;

use cwm_models::checkpoint::{self, Description, FORMAT, Status};
use cwm_models::{Architecture, Network};

/// Asserts that both are equal within `tolerance`, relative to magnitudes above one.
#[track_caller]
pub fn assert_close(found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len());
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let allowed = tolerance * expected.abs().max(1.0);
        assert!((found - expected).abs() <= allowed, "element {i}: {found} where {expected} was expected");
    }
}

/// Asserts that the difference of both has at most `share` of the norm of what was expected.
#[track_caller]
pub fn assert_near(found: &[f32], expected: &[f32], share: f64) {
    assert_eq!(found.len(), expected.len());
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>().sqrt();
    let wide = |value: &f32| f64::from(*value);
    let difference = norm(&mut found.iter().zip(expected).map(|(f, e)| wide(f) - wide(e)));
    let whole = norm(&mut expected.iter().map(wide));
    assert!(difference <= share * whole, "a difference of {difference} to {whole}");
}

/// Writes a checkpoint with fresh weights of a model of words (`words`) or of boards.
pub fn write_checkpoint(folder: &Path, family: &str, size: &str, words: bool, seed: u64) {
    let (vocabulary, outputs) = if words { (72, 72) } else { (cwm_encoding::VOCABULARY, cwm_encoding::LOGITS) };
    let architecture = Architecture {
        family: family.to_owned(),
        size: size.parse().unwrap(),
        vocabulary,
        dropout: 0.0,
        options: Default::default(),
    };
    let network = Network::build(architecture, outputs).unwrap();
    let mut training = serde_json::Map::from_iter([("seed".to_owned(), seed.into())]);
    if words {
        let vocabulary =
            serde_json::json!({ "form": "words", "version": 1, "inputs": 72, "targets": 72, "longest": 512 });
        training.insert("vocabulary".to_owned(), vocabulary);
    }
    let description = Description {
        format: FORMAT,
        architecture: network.architecture().clone(),
        parameters: network.layout().total() as u64,
        status: Status::Finished,
        training,
    };
    checkpoint::write(folder, &description, &network.initial_weights(seed)).unwrap();
}
