//! The stage as a whole, with models of fresh weights.

use std::path::Path;

use cwm_answers::{Answer, AnswersReader};
use cwm_contract::testing::{Trial, probe};
use cwm_contract::{FailureKind, Stage, Value, Values};
use cwm_models::checkpoint::DESCRIPTION_FILE;
use cwm_speech::PositionForm;
use tempfile::TempDir;

use crate::Generate;
use crate::probe::{READERS, write_checkpoint, write_items};

/// A folder with a checkpoint and items.
fn data(family: &str, options: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_checkpoint(&folder.path().join("checkpoint"), family, options, PositionForm::Pieces).unwrap();
    write_items(&folder.path().join("items.jsonl")).unwrap();
    folder
}

fn trial(work: &Path, data: &Path, more: &[(&str, Value)]) -> Trial {
    let trial = Trial::new(work).input("checkpoint", data.join("checkpoint")).input("items", data.join("items.jsonl"));
    let trial = trial.with("max_tokens", Value::Int(9));
    more.iter().fold(trial, |trial, (name, value)| trial.with(name, value.clone()))
}

fn answers(data: &Path, cores: usize, more: &[(&str, Value)]) -> Vec<Answer> {
    let work = tempfile::tempdir().unwrap();
    let outcome = trial(work.path(), data, more).cores(cores).run(&Generate).unwrap();
    AnswersReader::open(&outcome.outputs["answers"]).unwrap().map(Result::unwrap).collect()
}

fn refused(data: &Path, more: &[(&str, Value)]) -> String {
    let work = tempfile::tempdir().unwrap();
    let failure = trial(work.path(), data, more).run(&Generate).map(|_| ()).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Input, "{failure}");
    failure.message
}

#[test]
fn each_item_has_its_answers_on_any_number_of_cores() {
    for (family, options) in READERS {
        let data = data(family, options);
        let samples = [("samples", Value::Int(3))];
        let found = answers(data.path(), 1, &samples);
        assert_eq!(found, answers(data.path(), 2, &samples));
        let places: Vec<(String, Option<u64>)> = found.iter().map(|row| (row.task_id.clone(), row.sample)).collect();
        assert_eq!(places.len(), 12);
        assert_eq!(places[4], ("reasoning_best_move_0001".to_owned(), Some(1)));
        for answer in &found {
            let words = answer.completion_tokens.unwrap();
            assert!(answer.response.is_some() && (1..=9).contains(&words));
            let is_truncated = answer.finish.as_deref() == Some("length");
            assert!(if is_truncated { words == 9 } else { answer.finish.as_deref() == Some("stop") }, "{answer:?}");
        }
        // The men are 4 of two words each; then side, rights, file, and what is asked with five moves, or a piece and its square.
        assert_eq!(found.iter().step_by(3).map(|row| row.prompt_tokens.unwrap()).collect::<Vec<_>>(), [12, 22, 22, 14]);
        // The first of several is the only one of one.
        let alone = answers(data.path(), 1, &[]);
        assert!(alone.iter().eq(found.iter().step_by(3)));
        assert_ne!(alone, answers(data.path(), 1, &[("seed", Value::Int(1))]));
    }
}

#[test]
fn without_temperature_all_samples_are_the_likeliest_answer() {
    let data = data("transformer", &[]);
    let cold = [("temperature", Value::Float(0.0)), ("samples", Value::Int(2))];
    let found = answers(data.path(), 1, &cold);
    assert!(found.chunks(2).all(|pair| pair[0].response == pair[1].response));
    let others = [("seed", Value::Int(5)), ("top_k", Value::Int(3))];
    assert_eq!(found, answers(data.path(), 2, &[cold.as_slice(), &others].concat()));
    let values = |temperature: f64| {
        let defaults = Generate.parameters().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?)));
        defaults.chain([("temperature".to_owned(), Value::Float(temperature))]).collect::<Values>()
    };
    assert_eq!(Generate.unused_parameters(&values(0.0)), ["top_p", "min_p", "top_k", "seed"]);
    assert!(Generate.unused_parameters(&values(0.7)).is_empty());
}

#[test]
fn the_run_is_named_by_its_parameter_or_else_by_its_cell() {
    let data = data("transformer", &[]);
    let name = |more: &[(&str, Value)]| {
        let work = tempfile::tempdir().unwrap();
        let outcome = trial(work.path(), data.path(), more).run(&Generate).unwrap();
        let run = AnswersReader::open(&outcome.outputs["answers"]).unwrap().run().unwrap().clone();
        (run.name, run.model.unwrap())
    };
    assert_eq!(name(&[]), (String::new(), "transformer d64/l1".to_owned()));
    assert_eq!(name(&[("name", Value::Text("mine".to_owned()))]).0, "mine");
}

#[test]
fn other_word_lists_and_other_items_are_refused_in_words() {
    let data = data("transformer", &[]);
    let described = data.path().join("checkpoint").join(DESCRIPTION_FILE);
    let written = std::fs::read_to_string(&described).unwrap();
    let rewritten = |from: &str, to: &str| {
        assert!(written.contains(from), "{written}");
        std::fs::write(&described, written.replacen(from, to, 1)).unwrap();
        refused(data.path(), &[])
    };
    let message = rewritten("speech/pieces", "words");
    assert!(
        message.ends_with(
            "cannot answer: its words are `words`, version 1, of 148 words, and those of the small language are \
             `speech/squares`, version 1, of 148 words or `speech/pieces`, version 1, of 148 words"
        ),
        "{message}"
    );
    let message = rewritten("\"vocabulary\": {", "\"other\": {");
    assert!(
        message.contains("its words are none, as it answers with labels, and those of the small language"),
        "{message}"
    );
    std::fs::write(&described, &written).unwrap();

    let items = data.path().join("items.jsonl");
    let lines = std::fs::read_to_string(&items).unwrap();
    std::fs::write(&items, lines.replace("reasoning_legal_moves\"", "structural_check\"")).unwrap();
    assert_eq!(
        refused(data.path(), &[]),
        "the item reasoning_legal_moves_0003: the small language has no question \"structural_check\""
    );
    std::fs::write(&items, "").unwrap();
    assert_eq!(refused(data.path(), &[]), "there is no item to answer");
}

#[test]
fn parameters_that_cannot_be_and_answers_without_room_are_refused() {
    let data = data("gpt", &[("positions", "24")]);
    let message = refused(data.path(), &[]);
    assert!(message.starts_with("a sequence of 30 tokens is longer than the 24 positions of gpt d64/l1"), "{message}");
    for (name, value, wanted) in [
        ("temperature", -1.0, "a number from 0"),
        ("top_p", 1.5, "a number from 0 to 1"),
        ("min_p", -0.1, "a number from 0 to 1"),
        ("repetition_penalty", 0.0, "a positive number"),
    ] {
        let message = refused(data.path(), &[(name, Value::Float(value))]);
        assert_eq!(message, format!("parameter `{name}` must be {wanted}"));
    }
}

#[test]
fn the_probe_covers_all_ways_of_reading_and_is_the_same_twice() {
    let defaults = Generate.parameters().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?)));
    let values: Values = defaults.collect();
    let probe = || probe(&Generate, values.clone(), tempfile::tempdir().unwrap().path()).unwrap().unwrap();
    let probed = probe();
    assert!(
        READERS.iter().all(|(family, _)| probed.keys().any(|name| name.starts_with(family))),
        "{:?}",
        probed.keys()
    );
    assert!(probe() == probed);
}
