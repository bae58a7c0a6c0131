//! A longer training goes on from a shorter one's state.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use cwm_contract::{Failure, Value};

use super::{data, dataset, shuffle_knights, text, trial, written};
use crate::Train;

const ON: (&str, Value) = ("keep_state", Value::Bool(true));

fn steps(steps: i128) -> Vec<(&'static str, Value)> {
    vec![
        ("epochs", Value::Null),
        ("steps", Value::Int(steps)),
        ("horizon", Value::Int(9)),
        ("curve_every", Value::Int(2)),
    ]
}

/// Trains in a fresh folder, from `state` if there is one; its files are as the store has them.
fn train(data: &Path, more: &[(&str, Value)], state: Option<PathBuf>) -> Result<tempfile::TempDir, Failure> {
    let work = tempfile::tempdir().unwrap();
    for file in state.iter().flat_map(|state| std::fs::read_dir(state).unwrap()) {
        std::fs::set_permissions(file.unwrap().path(), Permissions::from_mode(0o444)).unwrap();
    }
    let trial = trial(work.path(), data, more);
    let trial = state.iter().fold(trial, |trial, state| trial.input("state", state));
    trial.run(&Train).map(|_| work)
}

fn state(work: &tempfile::TempDir) -> PathBuf {
    work.path().join("out/state")
}

#[test]
fn a_continued_training_ends_as_an_uninterrupted_one() {
    let data = data();
    let whole = train(data.path(), &steps(9), None).unwrap();
    // In an epoch, where a validation is due, at the end of an epoch, after two epochs, and at the end of all.
    for first in [1, 2, 3, 7, 9] {
        let short = train(data.path(), &[steps(first), vec![ON]].concat(), None).unwrap();
        let long = train(data.path(), &steps(9), Some(state(&short))).unwrap();
        assert!(written(long.path()) == written(whole.path()), "from step {first}");
        // Who is not root writes to the copy as well.
        let curves = std::fs::metadata(long.path().join("checkpoints/curves.jsonl")).unwrap();
        assert_eq!(curves.permissions().mode() & 0o200, 0o200);
    }
    // And in three pieces.
    let first = train(data.path(), &[steps(2), vec![ON]].concat(), None).unwrap();
    let second = train(data.path(), &[steps(5), vec![ON]].concat(), Some(state(&first))).unwrap();
    let third = train(data.path(), &steps(9), Some(state(&second))).unwrap();
    assert!(written(third.path()) == written(whole.path()));
}

#[test]
fn where_the_learning_rate_never_falls_epochs_may_be_added() {
    let data = data();
    let epochs = |epochs| vec![("schedule", text("constant")), ("epochs", Value::Int(epochs))];
    let whole = train(data.path(), &epochs(3), None).unwrap();
    let short = train(data.path(), &[epochs(1), vec![ON]].concat(), None).unwrap();
    let long = train(data.path(), &epochs(3), Some(state(&short))).unwrap();
    assert!(written(long.path()) == written(whole.path()));
}

#[test]
fn what_was_kept_is_the_state_and_without_asking_it_is_nothing() {
    let data = data();
    let files = |work: &tempfile::TempDir| {
        let mut names: Vec<_> = std::fs::read_dir(state(work))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let plain = train(data.path(), &steps(3), None).unwrap();
    assert_eq!(files(&plain), ["state.json"]);
    let kept = train(data.path(), &[steps(3), vec![ON]].concat(), None).unwrap();
    assert_eq!(files(&kept), ["curves.jsonl", "state.json", "state.safetensors"]);
    assert!(written(plain.path()) == written(kept.path()), "keeping changes nothing else");
    let text = |work| std::fs::read_to_string(state(work).join("state.json")).unwrap();
    assert_eq!(text(&plain), "{\n  \"format\": 1,\n  \"training\": null\n}\n");
    assert_eq!(text(&kept), text(&train(data.path(), &[steps(3), vec![ON]].concat(), None).unwrap()));
}

#[test]
fn another_training_is_refused_in_words() {
    let data = data();
    let short = train(data.path(), &[steps(3), vec![ON]].concat(), None).unwrap();
    let message = |data: &Path, more: Vec<(&str, Value)>, state: PathBuf| {
        let failure = train(data, &more, Some(state)).map(|_| ()).unwrap_err();
        let (_, what) = failure.message.split_once(") ").unwrap();
        what.to_owned()
    };
    let other = |name, value| [steps(9), vec![(name, value)]].concat();
    assert_eq!(
        message(data.path(), other("lr", Value::Float(0.25)), state(&short)),
        "is of another training: `lr` is 0.001 there and 0.25 here"
    );
    assert_eq!(
        message(data.path(), other("horizon", Value::Int(20)), state(&short)),
        "is of another training: the learning rate falls until update 9 there and 20 here"
    );
    assert_eq!(
        message(
            data.path(),
            [other("order", text("authors")), vec![("beta2", Value::Float(0.5))]].concat(),
            state(&short)
        ),
        "is of another training: `beta2` is 0.95 there and 0.5 here; `order` is shuffled there and authors here; \
         `shard_games` is not in use there and 1000000 here; `workers` is not in use there and 0 here"
    );
    assert_eq!(message(data.path(), steps(2), state(&short)), "has made 3 steps, and this training is to have 2");
    let plain = train(data.path(), &steps(3), None).unwrap();
    assert_eq!(message(data.path(), steps(9), state(&plain)), "is of a training that kept none");
    let others = super::data();
    std::fs::remove_dir_all(others.path().join("validation")).unwrap();
    dataset(&others.path().join("validation"), [shuffle_knights(9, 0)]);
    assert_eq!(
        message(others.path(), steps(9), state(&short)),
        "is of another training: the data of `validation` differ"
    );
    let change = |name: &str, change: &dyn Fn(Vec<u8>) -> Vec<u8>| {
        let path = state(&short).join(name);
        let bytes = change(std::fs::read(&path).unwrap());
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, bytes).unwrap();
    };
    change("curves.jsonl", &|bytes| bytes.to_ascii_uppercase());
    assert_eq!(
        message(data.path(), steps(9), state(&short)),
        "cannot be continued: its curves are not those that its state belongs to"
    );
    change("state.safetensors", &|bytes| bytes[..bytes.len() / 2].to_vec());
    assert!(message(data.path(), steps(9), state(&short)).starts_with("cannot be continued: it is damaged: "));
}
