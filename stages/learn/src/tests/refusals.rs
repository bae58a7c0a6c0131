//! Faulty inputs and parameters, and the messages.

use std::path::Path;

use cwm_contract::{FailureKind, Value};
use cwm_sequences::{NO_LOSS, Vocabulary};

use super::{data, losses, row, text, trained, trial, vocabulary, write};
use crate::Learn;

fn refused(data: &Path, more: &[(&str, Value)]) -> String {
    let work = tempfile::tempdir().unwrap();
    let failure = trial(work.path(), data, more).run(&Learn).map(|_| ()).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Input, "{failure}");
    failure.message
}

fn options(options: &[(&str, &str)]) -> Value {
    Value::Map(options.iter().map(|(name, value)| ((*name).to_owned(), text(value))).collect())
}

#[test]
fn bad_parameters_are_refused_in_words() {
    let data = data();
    let error = |name: &str, value: Value| refused(data.path(), &[(name, value)]);
    assert!(error("family", text("lstm")).starts_with("parameter `family` is unknown: there is no family `lstm`"));
    assert!(error("size", text("big")).starts_with("parameter `size` is wrong: `big` is not a size"));
    assert_eq!(
        error("options", options(&[("mask", "half")])),
        "parameter `options` makes no model: option `mask` must be one of causal, none, not `half`"
    );
    assert_eq!(error("steps", Value::Int(3)), "parameter `steps` must not be given together with `epochs`");
    assert_eq!(error("lr", Value::Float(0.0)), "parameter `lr` must be a positive number");
    assert_eq!(error("rows", Value::Int(12)), "input `train` holds 11 sequences, not the 12 of `rows`");
}

#[test]
fn inputs_without_sequences_and_of_two_vocabularies_are_refused() {
    let data = data();
    let folder = |name: &str| data.path().join(name);
    let replace = |name: &str, vocabulary: &Vocabulary, rows: Vec<super::Row>| {
        std::fs::remove_dir_all(folder(name)).unwrap();
        write(&folder(name), vocabulary, rows);
    };
    replace("validation", &vocabulary("letters"), Vec::new());
    assert_eq!(refused(data.path(), &[]), "input `validation` holds no sequences");
    replace("validation", &Vocabulary { longest: 30, ..vocabulary("letters") }, vec![row(6, 1)]);
    assert_eq!(
        refused(data.path(), &[]),
        "input `validation` has the vocabulary {\"form\":\"letters\",\"version\":1,\"inputs\":12,\"targets\":10,\"longest\":30}, \
         and `train` has {\"form\":\"letters\",\"version\":1,\"inputs\":12,\"targets\":10,\"longest\":24}"
    );
    replace("validation", &vocabulary("words"), vec![row(6, 1)]);
    assert!(refused(data.path(), &[]).starts_with("input `validation` has the vocabulary {\"form\":\"words\""));
    replace("train", &vocabulary("letters"), Vec::new());
    assert_eq!(refused(data.path(), &[]), "input `train` holds no sequences");
}

#[test]
fn sequences_that_the_model_cannot_learn_from_are_named() {
    let data = data();
    // The training set has sequences of 3, 5, … 23 tokens, the validation set of 6 to 8.
    let short = [("options", options(&[("positions", "22")]))];
    assert_eq!(
        refused(data.path(), &short),
        "input `train`: sequence 10 (row10) has 23 tokens, more than the 22 positions of the model"
    );
    let short = [("options", options(&[("positions", "7")]))];
    assert_eq!(
        refused(data.path(), &short),
        "input `validation`: sequence 2 (row2) has 8 tokens, more than the 7 positions of the model"
    );
    let unmasked = [("options", options(&[("mask", "none")]))];
    assert_eq!(
        refused(data.path(), &unmasked),
        "input `validation`: sequence 0 (row0) has a target before its last place, and a model without a mask would read on \
         to the answer"
    );
    std::fs::remove_dir_all(data.path().join("validation")).unwrap();
    write(&data.path().join("validation"), &vocabulary("letters"), [row(4, 0), (vec![1, 2], vec![NO_LOSS; 2])]);
    assert_eq!(refused(data.path(), &[]), "input `validation`: sequence 1 (row1) has no target");
}

#[test]
fn without_a_mask_a_target_at_the_last_place_is_learnt() {
    let data = data();
    for (name, rows) in [("train", 11), ("validation", 3)] {
        std::fs::remove_dir_all(data.path().join(name)).unwrap();
        let last = |number: usize| {
            let (tokens, mut targets) = row(8, number);
            targets[..7].fill(NO_LOSS);
            (tokens, targets)
        };
        write(&data.path().join(name), &vocabulary("letters"), (0..rows).map(last));
    }
    let run = |mask: &str| {
        // With one layer the last place sees the same under both masks.
        let size = ("size", text("d16/l2"));
        let more = [("options", options(&[("mask", mask)])), ("epochs", Value::Int(20)), size];
        losses(trained(data.path(), &more).path(), "train")
    };
    let (none, causal) = (run("none"), run("causal"));
    assert!(none.last() < none.first() && causal.last() < causal.first() && none != causal, "{none:?} {causal:?}");
}
