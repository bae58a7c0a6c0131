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
fn the_first_validation_is_the_last_of_the_training_before() {
    let data = data();
    let first = trained(data.path(), &[]);
    let second = go_on(data.path(), first.path(), &[]).unwrap();
    let (before, after) = (losses(first.path(), "validation"), losses(second.path(), "validation"));
    assert_eq!(before.last(), after.first());
    assert_ne!(written(first.path())[0], written(second.path())[0]);
    // Fresh weights are another beginning.
    assert_ne!(before.first(), after.first());
}

#[test]
fn an_unchanged_training_keeps_the_weights_to_the_bit() {
    let data = data();
    let first = trained(data.path(), &[]);
    let tiny = [("lr", Value::Float(1e-30)), ("weight_decay", Value::Float(0.0)), ("epochs", Value::Int(1))];
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
