//! Faulty inputs and parameters, and the errors that name the faults.

use std::path::Path;

use cwm_contract::{FailureKind, Value};
use cwm_reasoning::ReasoningTask;
use cwm_speech::PositionForm;
use serde_json::Value as Json;

use super::{data, trial};
use crate::Reinforce;
use crate::probe::{BOARDS, made_up_items, write_checkpoint, write_items};

fn refused(data: &Path, more: &[(&str, Value)]) -> String {
    let work = tempfile::tempdir().unwrap();
    let failure = trial(work.path(), data, more).run(&Reinforce).map(|_| ()).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Input, "{failure}");
    failure.message
}

#[test]
fn bad_parameters_are_refused() {
    let data = data(2, 6.0);
    let error = |name: &str, value: Value| refused(data.path(), &[(name, value)]);
    assert_eq!(error("mini_batch", Value::Int(5)), "parameter `mini_batch` must not be more than `batch_size`");
    assert_eq!(error("lr", Value::Float(-1.0)), "parameter `lr` must be 0 or more");
    assert!(error("rollouts", Value::Int(1)).starts_with("parameter `rollouts`"));
}

#[test]
fn models_that_are_too_short_for_an_answer_and_models_without_a_mask_are_refused() {
    let data = data(2, 6.0);
    let with = |options: &[(&str, &str)]| {
        write_checkpoint(&data.path().join("checkpoint"), "gpt", options, 0.0).unwrap();
        refused(data.path(), &[("max_tokens", Value::Int(42))])
    };
    let error = with(&[("positions", "48")]);
    assert!(error.starts_with("reasoning_predict_move_0000: a sequence of "), "{error}");
    assert_eq!(
        with(&[("positions", "96"), ("mask", "none")]),
        "the model has no mask: with an answer behind its prompt it would read what it is to answer"
    );
}

#[test]
fn items_that_share_a_board_with_the_validation_are_named() {
    let data = data(2, 6.0);
    let mut shared = made_up_items(&BOARDS[..1], &ReasoningTask::ALL).unwrap();
    for item in &mut shared {
        // Counts of moves make no other board.
        item.input = item.input.replace("0 1", "7 30");
    }
    write_items(&data.path().join("items"), &shared).unwrap();
    let error = refused(data.path(), &[]);
    assert!(error.starts_with("4 items of `validation` have a board of `items`: "), "{error}");
    assert!(
        error.contains("reasoning_predict_move_0000 and reasoning_predict_move_0000 (4k3/8/8/8/8/8/4P3/4K2R w K -)")
    );
}

#[test]
fn items_that_are_not_graded_and_files_without_items_are_refused() {
    let data = data(2, 6.0);
    let mut items = made_up_items(&BOARDS[..1], &ReasoningTask::ALL).unwrap();
    items[0].task_type = "structural_piece_arrangement".into();
    write_items(&data.path().join("items"), &items).unwrap();
    let error = refused(data.path(), &[]);
    assert!(error.starts_with("reasoning_predict_move_0000: ") && error.contains("is not graded"), "{error}");
    std::fs::write(data.path().join("items"), "").unwrap();
    assert_eq!(refused(data.path(), &[]), "input `items` holds no items");
}

#[test]
fn models_of_labels_and_of_other_words_are_refused_with_both_lists_named() {
    let data = data(2, 6.0);
    let path = data.path().join("checkpoint/model.json");
    let description: Json = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let with = |change: &dyn Fn(&mut Json)| {
        let mut changed = description.clone();
        change(&mut changed["training"]);
        std::fs::write(&path, changed.to_string()).unwrap();
        refused(data.path(), &[])
    };
    let error = with(&|training| _ = training.as_object_mut().unwrap().remove("vocabulary"));
    assert!(error.contains("its words are none"), "{error}");
    let error = with(&|training| training["vocabulary"]["form"] = "words".into());
    let ours = PositionForm::Squares.vocabulary(0).form;
    assert!(error.contains("`words`") && error.contains(&format!("`{ours}`")), "{error}");
}
