//! A training that begins with the weights of another.

use super::*;

/// Trains in `work` from the checkpoint of another training.
fn go_on(data: &Path, from: &Path, more: &[(&str, Value)]) -> Result<TempDir, String> {
    let work = tempfile::tempdir().unwrap();
    let trial = trial(work.path(), data, more).input("checkpoint", from.join("out/checkpoint"));
    trial.run(&Learn).map(|_| ()).map_err(|failure| failure.message)?;
    Ok(work)
}

#[test]
fn it_begins_where_the_other_ended() {
    let data = data();
    let still = ("dropout", Value::Float(0.0));
    let first = trained(data.path(), &[still.clone(), ("epochs", Value::Int(30))]);
    let second = go_on(data.path(), first.path(), &[still]).unwrap();
    let (before, after) = (losses(first.path(), "train"), losses(second.path(), "train"));
    // Both see the same first batch.
    assert!(after[0] < 0.7 * before[0], "{before:?} {after:?}");
    assert_ne!(written(first.path())[0], written(second.path())[0]);
}

#[test]
fn with_a_tiny_rate_and_another_dropout_the_weights_stay_to_the_bit() {
    let data = data();
    let first = trained(data.path(), &[("dropout", Value::Float(0.0))]);
    let tiny =
        [("lr", 1e-30), ("weight_decay", 0.0), ("dropout", 0.3)].map(|(name, value)| (name, Value::Float(value)));
    let second = go_on(data.path(), first.path(), &tiny).unwrap();
    assert_eq!(written(first.path())[0], written(second.path())[0]);
}

#[test]
fn another_architecture_and_another_vocabulary_are_named() {
    let data = data();
    let first = trained(data.path(), &[]);
    let refused = |data: &Path, more: &[(&str, Value)]| go_on(data, first.path(), more).err().unwrap();
    let message = refused(data.path(), &[("size", text("d16/l2"))]);
    assert!(message.contains("has the architecture {") && message.contains("\"size\":\"d16/l1\""), "{message}");
    assert!(message.contains(", and this training has {") && message.contains("\"size\":\"d16/l2\""), "{message}");
    let message = refused(data_of("words").path(), &[]);
    assert!(message.contains("has the vocabulary {\"form\":\"letters\""), "{message}");
    assert!(message.contains("and this training has {\"form\":\"words\""), "{message}");
}
