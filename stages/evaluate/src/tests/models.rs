//! A checkpoint computed in other ways than it was trained.

use cwm_contract::{Stage, Values};

use super::*;

#[test]
fn a_precision_changes_losses_a_little() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), &games());
    model(folder.path(), |_| {});
    let loss = |precision: &str| {
        let outcome = evaluate(folder.path(), 2, &[("precision", Value::Text(precision.into()))]).unwrap();
        let (_, metadata) = read(&outcome.outputs["scores"]);
        assert_eq!(metadata["cwm.model"]["evaluation_precision"], precision);
        assert_eq!(metadata["cwm.model"]["precision"], "bf16", "of the training");
        outcome.metrics["loss"]
    };
    let (strict, default) = (loss("fp32"), evaluate(folder.path(), 1, &[]).unwrap().metrics["loss"]);
    assert_eq!(strict, default);
    for (precision, allowed) in [("tf32", 1e-3), ("bf16", 1e-2)] {
        let found = loss(precision);
        assert!(found != strict && (found / strict - 1.0).abs() < allowed, "{precision}: {found} {strict}");
    }
}

#[test]
fn a_model_of_words_is_for_another_stage() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), &games());
    model(folder.path(), |_| {});
    let path = folder.path().join("checkpoint/model.json");
    let mut description: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    description["training"]["vocabulary"] = serde_json::json!({ "form": "words" });
    std::fs::write(&path, description.to_string()).unwrap();
    let failure = evaluate(folder.path(), 1, &[]).err().unwrap();
    assert!(failure.message.ends_with("sequences of the form `words`: it has no labels"), "{failure}");
    assert_eq!(failure.hint.unwrap(), "the stage `legality` measures models of words of moves");
}

#[test]
fn a_named_family_narrows_the_code_that_counts() {
    let values = |family: Value, name: Value| {
        Values::from([
            ("family".to_owned(), family),
            ("batch_tokens".to_owned(), Value::Int(1)),
            ("board_games".to_owned(), Value::Int(0)),
            ("keep_predictions".to_owned(), Value::Bool(false)),
            ("en_passant".to_owned(), Value::Text("always".into())),
            ("precision".to_owned(), Value::Text("fp32".into())),
            ("options".to_owned(), Value::Map(BTreeMap::new())),
            ("name".to_owned(), name),
            ("size".to_owned(), Value::Null),
            ("parameters".to_owned(), Value::Null),
        ])
    };
    let text = |text: &str| Value::Text(text.into());
    assert_eq!(Evaluate.code_parts(&values(Value::Null, Value::Null)), None);
    // What another program predicted rests on no family of ours.
    assert_eq!(Evaluate.code_parts(&values(Value::Null, text("gru"))), Some(Vec::new()));
    assert_eq!(Evaluate.code_parts(&values(text("transformer"), Value::Null)), Some(vec!["transformer".to_owned()]));
}

#[test]
fn a_model_is_tested_as_its_options_say_but_stays_the_same() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), &games());
    model_of("slice", folder.path(), |_| {});
    let with = |name: &str, value: &str| {
        let options = BTreeMap::from([(name.to_owned(), Value::Text(value.to_owned()))]);
        evaluate(folder.path(), 2, &[("options", Value::Map(options))])
    };
    let chunked = evaluate(folder.path(), 2, &[]).unwrap();
    let sequential = with("scan", "sequential").unwrap();
    assert_eq!(read(&sequential.outputs["scores"]).1["cwm.model"]["options"]["scan"], "sequential");
    let (one, other) = (chunked.metrics["loss"], sequential.metrics["loss"]);
    assert!(one != other && (one - other).abs() < 1e-5, "{one} {other}");
    let refused = "`options` do not fit the checkpoint: option `block` makes another model of family `slice`; it cannot be \
                   changed after training";
    assert_eq!(with("block", "4").err().unwrap().message, refused);
    assert!(with("rope", "paper").err().unwrap().message.contains("family `slice` has no option `rope`"));
}
