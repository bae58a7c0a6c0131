//! Predictions that are kept.

use cwm_contract::{Stage, Values};

use super::*;

fn keep() -> (&'static str, Value) {
    ("keep_predictions", Value::Bool(true))
}

/// The file as another program reads it: the labels by game and step, in the file's order.
fn kept(outcome: &Outcome) -> Vec<(String, u32, Vec<u8>)> {
    let (rows, _) = read(&outcome.outputs["predictions"]);
    let (ids, plies) = (rows["id"].as_string::<i32>(), rows["t"].as_primitive::<UInt32Type>());
    let labels = rows["labels"].as_fixed_size_list();
    let of = |row| labels.value(row).as_primitive::<UInt8Type>().values().to_vec();
    (0..rows.num_rows()).map(|row| (ids.value(row).to_owned(), plies.value(row), of(row))).collect()
}

#[test]
fn kept_predictions_scored_again_are_the_same_scores() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    dataset(folder, &games());
    model(folder, |_| {});
    let plain = evaluate(folder, 1, &[]).unwrap();
    let plain = ["scores", "boards"].map(|name| std::fs::read(&plain.outputs[name]).unwrap());
    let outcome = evaluate(folder, 2, &[keep()]).unwrap();
    let both = ["scores", "boards"].map(|name| std::fs::read(&outcome.outputs[name]).unwrap());
    assert!(plain == both, "keeping predictions changes scores or boards");
    std::fs::copy(&outcome.outputs["predictions"], folder.join("predictions")).unwrap();
    let again = Trial::new(folder.join("again"))
        .input("predictions", folder.join("predictions"))
        .input("games", folder.join("dataset"))
        .run(&Evaluate)
        .unwrap();
    let (wanted, metadata) = read(&outcome.outputs["scores"]);
    let (found, of_predictions) = read(&again.outputs["scores"]);
    assert_eq!(found, wanted);
    assert_eq!(of_predictions, metadata);
    assert!(!again.outputs.contains_key("predictions"));
}

/// A model with fresh weights predicts the arg-max of its logits, computed here from its weights alone.
#[test]
fn the_largest_logit_is_predicted() {
    let folder = tempfile::tempdir().unwrap();
    let games = [shuffle_knights(6)];
    dataset(folder.path(), &games);
    model(folder.path(), |_| {});
    let network = network();
    let weights = network.initial_weights(7);
    let device_weights = DeviceWeights::new(&weights, &device::cpu());
    let tokens = Tokens::padded([games[0].as_slice()], 0);
    let logits = network.flat_logits(&ForwardPass::evaluation(&device_weights), &tokens).into_data();
    let logits = logits.as_slice::<f32>().unwrap();
    let rows = kept(&evaluate(folder.path(), 1, &[keep()]).unwrap());
    assert_eq!(rows.len(), games[0].len());
    for (at, (id, t, labels)) in rows.into_iter().enumerate() {
        assert_eq!((id.as_str(), t as usize, labels.len()), ("game0", at, LABELS));
        for (label, class) in labels.into_iter().enumerate() {
            let logits = &logits[at * LOGITS + first_logit(label)..][..classes(label)];
            assert!(logits.iter().all(|logit| *logit <= logits[usize::from(class)]), "position {at}, label {label}");
        }
    }
}

#[test]
fn without_the_parameter_there_are_no_rows_and_the_key_stays() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), &games());
    model(folder.path(), |_| {});
    let outcome = evaluate(folder.path(), 1, &[]).unwrap();
    let file = std::fs::File::open(&outcome.outputs["predictions"]).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    assert_eq!(builder.metadata().file_metadata().num_rows(), 0);
    let unused = |keep: bool| {
        let defaults = Evaluate.parameters().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?)));
        let values = defaults.chain([("keep_predictions".to_owned(), Value::Bool(keep))]).collect::<Values>();
        Evaluate.unused_parameters(&values)
    };
    assert_eq!(unused(false), ["keep_predictions"]);
    assert!(unused(true).is_empty());
}

#[test]
fn what_cannot_be_kept_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), &[shuffle_knights(4)]);
    model(folder.path(), |weights| {
        let bias = weights.layout().find("output_head.bias").unwrap();
        weights.get_mut(bias)[1877] = f32::NAN;
    });
    let failure = evaluate(folder.path(), 1, &[keep()]).err().unwrap();
    let expected = "game 0 (game0), t 0: the model predicts no class for label 74, since one of its logits is NaN";
    assert_eq!(failure.message, expected);
    std::fs::write(folder.path().join("predictions"), "").unwrap();
    let failure = Trial::new(folder.path().join("work"))
        .input("predictions", folder.path().join("predictions"))
        .input("games", folder.path().join("dataset"))
        .with(keep().0, keep().1)
        .run(&Evaluate)
        .err()
        .unwrap();
    let expected = "`keep_predictions` belongs to a checkpoint; predictions have no use for it";
    assert_eq!(failure.message, expected);
}
