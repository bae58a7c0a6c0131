//! Items of Semantic.

use std::collections::HashSet;

use proptest::prelude::*;

use crate::build::semantic;
use crate::comment::{Comment, Phase};
use crate::item::Item;
use crate::truth::{Keys, key};
use crate::{Distractors, Task};

fn comment(text: &str, piece: &str, move_number: u32, keywords: &[&str]) -> Comment {
    Comment {
        game: 1,
        ply: 2 * move_number - 1,
        move_uci: "e2e4".into(),
        mover: "white".into(),
        piece: piece.into(),
        move_number,
        phase: Phase::of_move(move_number),
        fen_before: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".into(),
        fen_after: "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1".into(),
        comment: text.into(),
        keywords: keywords.iter().map(|&word| word.to_owned()).collect(),
        cleaned: text.into(),
        cleaned_by: "rules".into(),
    }
}

fn comments() -> Vec<Comment> {
    let squares = ["a1", "b2", "c3", "d4", "e5", "f6", "g7", "h8"];
    let pieces = ["pawn", "rook", "knight"];
    let of = |at: usize| {
        let (piece, word) = (pieces[at % 3], ["fork", "pin", "check", "attack"][at % 4]);
        comment(&format!("A {word} by the {piece} on {}.", squares[at % 8]), piece, 5 + at as u32, &[word])
    };
    (0..24).map(of).collect()
}

fn options(item: &Item) -> Vec<&str> {
    item.metadata.get("options").unwrap().as_array().unwrap().iter().map(|option| option.as_str().unwrap()).collect()
}

fn of_kind(items: &[Item], kind: Distractors) -> impl Iterator<Item = &Item> {
    items.iter().filter(move |item| item.task() == Some(Task::Semantic(kind)))
}

#[test]
fn options_are_what_the_task_says() {
    let comments = comments();
    let items = semantic(&comments, None, 42, |_| 10).unwrap();
    assert_eq!(items.len(), 40);
    let find = |text: &str| comments.iter().find(|comment| comment.cleaned == text).unwrap();
    for (at, item) in of_kind(&items, Distractors::Keyword).enumerate() {
        assert_eq!(item.task_id, format!("semantic_keyword_{at:04}"));
        assert!(options(item).iter().all(|text| find(text).keywords == comments[at].keywords), "{item:?}");
    }
    for (at, item) in of_kind(&items, Distractors::PieceStage).enumerate() {
        assert!(options(item).iter().all(|text| find(text).piece == comments[at].piece), "{item:?}");
    }
    let different =
        |kind| of_kind(&items, kind).any(|item| options(item).iter().any(|text| find(text).piece == "rook"));
    assert!(different(Distractors::EasyRandom) && different(Distractors::Lexical));
    // The same word and the same piece: what stands on another square is nearest.
    let near = of_kind(&items, Distractors::Lexical).next().unwrap();
    assert!(options(near).contains(&"A fork by the pawn on e5."), "{near:?}");
    let letters: HashSet<_> = items.iter().map(|item| item.correct_answer.as_str()).collect();
    assert_eq!(letters, HashSet::from(["A", "B", "C", "D"]));
}

#[test]
fn a_part_of_the_comment_is_an_option_only_where_too_few_others_are() {
    let texts = ["A check. A fork.", "A check.", "A fork.", "A pin.", "A skewer.", "A mate."];
    let all: Vec<Comment> = texts.iter().zip(1..).map(|(text, at)| comment(text, "king", at, &["a"])).collect();
    let of_first = |comments: &[Comment]| semantic(comments, None, 42, |_| 1).unwrap();
    for item in of_first(&all) {
        assert!(options(&item).iter().all(|text| *text == texts[0] || !texts[0].contains(*text)), "{item:?}");
    }
    assert!(of_first(&all[..4]).iter().all(|item| options(item).len() == 4));
}

#[test]
fn items_of_a_task_do_not_depend_on_other_tasks() {
    let comments = comments();
    let all = semantic(&comments, None, 7, |_| 24).unwrap();
    let one =
        semantic(&comments, None, 7, |task| if task == Task::Semantic(Distractors::Keyword) { 5 } else { 0 }).unwrap();
    assert!(of_kind(&all, Distractors::Keyword).take(5).eq(one.iter()));
    let other = semantic(&comments, None, 8, |_| 24).unwrap();
    assert!(all != other);
}

#[test]
fn embeddings_take_the_place_of_words() {
    let comments = comments();
    let vectors: Vec<Vec<f32>> = (0..24).map(|at| vec![(at as f32 / 8.0).cos(), (at as f32 / 8.0).sin()]).collect();
    let items = semantic(&comments, Some(&vectors), 7, |_| 1).unwrap();
    let near = of_kind(&items, Distractors::Embedding).next().unwrap();
    let expected: HashSet<_> = comments[..4].iter().map(|comment| comment.cleaned.as_str()).collect();
    assert_eq!(options(near).into_iter().collect::<HashSet<_>>(), expected);
    assert_eq!(of_kind(&items, Distractors::Lexical).count(), 0);
    let failure = semantic(&comments, Some(&vectors[1..]), 7, |_| 1).unwrap_err();
    assert_eq!(failure.message, "there are 23 embeddings of 24 comments");
}

proptest! {
    #[test]
    fn options_are_different_and_hold_the_key(texts in prop::collection::vec("[a-d ]{0,3}", 1..40), seed: i64) {
        let comments: Vec<Comment> = texts.iter().zip(1..).map(|(text, at)| comment(text, "king", at, &["a"])).collect();
        let distinct: HashSet<&String> = texts.iter().collect();
        let Ok(items) = semantic(&comments, None, seed.into(), |_| 100) else {
            prop_assert!(distinct.len() < 4);
            return Ok(());
        };
        prop_assert!(distinct.len() >= 4);
        prop_assert_eq!(items.len(), 4 * comments.len());
        for item in items {
            let options = options(&item);
            prop_assert_eq!(options.iter().collect::<HashSet<_>>().len(), 4);
            prop_assert_eq!(key(&item, Keys::Published).unwrap(), Some(item.correct_answer.clone()));
        }
    }
}
