//! Judgements of golden answers.

use std::collections::HashMap;

use serde::Deserialize;

use crate::golden::{lines, published};
use crate::{Item, Judge, Length, MoveFault, PublishedVerdict};

#[derive(Deserialize)]
struct Row {
    task_id: String,
    #[serde(alias = "response")]
    output: String,
    completion_tokens: Option<u64>,
    #[serde(default = "usual")]
    max_tokens: u64,
    correct_answer: Option<String>,
    #[serde(default)]
    extracted: Option<String>,
    verdict: String,
    sound: Option<bool>,
}

fn usual() -> u64 {
    8_192
}

/// The published items by id; those of Semantic, of which only keys are at hand, as far as answers need them.
fn items(rows: &[Row]) -> Option<HashMap<String, Item>> {
    let mut items: HashMap<String, Item> = published()?.into_iter().map(|item| (item.task_id.clone(), item)).collect();
    let model = items["position_judgement_winning_0000"].clone();
    for row in rows.iter().filter(|row| row.task_id.starts_with("semantic_keyword")) {
        let key = row.correct_answer.clone().unwrap();
        let item = Item {
            task_id: row.task_id.clone(),
            task_type: "semantic_keyword".into(),
            correct_answer: key,
            ..model.clone()
        };
        items.insert(row.task_id.clone(), item);
    }
    Some(items)
}

#[test]
fn golden_answers_have_their_judgements() {
    for (file, has_extracted) in [("extraction.jsonl", true), ("runs.jsonl", false)] {
        let Some(rows) = lines::<Row>(file) else { return };
        let Some(items) = items(&rows) else { return };
        for (case, row) in rows.iter().enumerate() {
            let length = Length { completion_tokens: row.completion_tokens, max_tokens: Some(row.max_tokens) };
            let judged = Judge::new(&items[&row.task_id]).unwrap().judge(&row.output, length);
            let place = format!("{file}, case {case}: {:?}", row.output);
            assert_eq!(judged.verdict.name(), row.verdict, "{place}");
            assert_eq!(judged.sound, row.sound, "{place}");
            if has_extracted {
                assert_eq!(judged.extracted, row.extracted, "{place}");
            }
        }
    }
}

#[test]
fn published_keys_are_correct_and_sound_but_where_the_notes_say() {
    let Some(items) = published() else { return };
    let mut unsound = 0;
    for item in &items {
        let answer = format!("FINAL ANSWER: {}", item.correct_answer);
        let judged = Judge::new(item).unwrap().judge(&answer, Length::default());
        assert_eq!(judged.verdict, PublishedVerdict::Correct, "{}", item.task_id);
        unsound += usize::from(judged.sound != Some(true));
    }
    assert_eq!(unsound, 32);
}

#[test]
fn wrong_moves_have_their_faults() {
    let Some(items) = published() else { return };
    let item = items.iter().find(|item| item.task_id == "short_tactics_rating_beginner_0000").unwrap();
    let judge = Judge::new(item).unwrap();
    let fault = |answer: &str| judge.judge(&format!("FINAL ANSWER: {answer}"), Length::default()).fault;
    assert_eq!(fault("h3h2"), None);
    assert_eq!(fault("Qh2#"), None, "the wrong form of the right move");
    assert_eq!(fault("h3g3"), Some(MoveFault::LegalButWrong));
    assert_eq!(fault("a1a1"), Some(MoveFault::IllegalMove));
    assert_eq!(fault("Kh9"), Some(MoveFault::NotAMove));
    assert_eq!(fault("h3h2, h3g3"), Some(MoveFault::NotAMove));
    assert_eq!(fault("There is none"), Some(MoveFault::NotAMove));
    assert_eq!(fault("No legal move"), Some(MoveFault::NoMove));
    assert_eq!(judge.judge("I resign", Length::default()).fault, None, "no answer at all");
    let legal = judge.chance();
    assert!((0.01..0.1).contains(&legal), "{legal}");
}

#[test]
fn an_empty_list_may_be_said_as_none() {
    let Some(mut items) = published() else { return };
    let item = items.iter_mut().find(|item| item.task_type == "structural_check_detection").unwrap();
    item.input = "4k3/8/8/8/8/8/8/4K3 w - - 0 1".into();
    let judge = Judge::new(item).unwrap();
    assert_eq!(judge.judge("FINAL ANSWER: none", Length::default()).sound, Some(true));
    assert_eq!(judge.judge("FINAL ANSWER: White Queen at e5", Length::default()).sound, Some(false));
}

/// Without the text of the true option the item's own key decides.
#[test]
fn keys_that_are_no_answers_are_refused() {
    let Some(items) = published() else { return };
    let with = |key: &str| Item {
        task_id: "semantic_keyword_0000".into(),
        task_type: "semantic_keyword".into(),
        correct_answer: key.into(),
        ..items[0].clone()
    };
    let item = with("E");
    let judge = Judge::new(&item).unwrap();
    let sound = |answer: &str| judge.judge(&format!("FINAL ANSWER: {answer}"), Length::default()).sound;
    assert_eq!((sound("(e)"), sound("none")), (Some(true), None));
    let failure = Judge::new(&with("the second")).err().unwrap().message;
    assert_eq!(failure, "semantic_keyword_0000: its key \"the second\" is not the answer to a question of its task");
}

/// An item of a task that is not known is judged by its key alone.
#[test]
fn unknown_tasks_have_no_sound_answers() {
    let Some(items) = published() else { return };
    let item = Item { task_type: "motifs_x".into(), ..items[0].clone() };
    let judge = Judge::new(&item).unwrap();
    let judged = judge.judge(&format!("FINAL ANSWER: {}", item.correct_answer), Length::default());
    assert_eq!((judged.verdict, judged.sound, judge.chance()), (PublishedVerdict::Correct, None, 0.0));
}
