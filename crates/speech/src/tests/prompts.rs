//! Positions, items and examples as words, worked out by hand.

use std::collections::HashSet;

use cwm_questions::Item;
use cwm_sequences::Vocabulary;

use super::names;
use crate::words::{COUNT, END, name};
use crate::{PositionForm, example_words, item_words};

const PAWNS: &str = "4k3/2p5/8/3pP3/8/8/8/4K2R w K d6 0 1";

fn item(task: &str, metadata: &str) -> Item {
    let line = format!(
        r#"{{"task_id":"a","task_type":"{task}","task_category":"Reasoning","input":"{PAWNS}","question":"?","format_examples":[],"correct_answer":"","answer_type":"single","metadata":{{{metadata}}}}}"#
    );
    serde_json::from_str(&line).unwrap()
}

fn prompt(task: &str, metadata: &str) -> Result<String, String> {
    item_words(&item(task, metadata), PositionForm::Pieces).map(|words| names(&words))
}

#[test]
fn the_list_has_fewer_words_than_a_byte_and_each_has_its_name() {
    let all: HashSet<String> = (0..COUNT).map(name).collect();
    assert_eq!((COUNT, all.len(), END), (148, 148, 146));
    assert!(!all.contains("?"));
    assert_eq!((name(END), name(END + 1), name(COUNT)), ("<end>".into(), "<padding>".into(), "?".into()));
}

#[test]
fn a_position_is_its_men_or_its_squares() {
    let position = crate::position::position(PAWNS).unwrap();
    let men = "K e1 k e8 p c7 p d5 P e5 R h1 white castling:K ep:d";
    assert_eq!(names(&PositionForm::Pieces.words(&position)), men);
    let squares = PositionForm::Squares.words(&position);
    assert_eq!(squares.len(), 67);
    let rank = |rank: usize| names(&squares[8 * (8 - rank)..][..8]);
    assert_eq!(rank(8), ". . . . k . . .");
    assert_eq!(rank(7), ". . p . . . . .");
    assert_eq!(rank(5), ". . . p P . . .");
    assert_eq!(rank(1), ". . . . K . . R");
    assert_eq!(names(&squares[64..]), "white castling:K ep:d");
    let start = crate::position::position("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1").unwrap();
    assert_eq!(names(&PositionForm::Squares.words(&start)[64..]), "black castling:KQkq ep:-");
}

#[test]
fn what_is_asked_follows_the_position() {
    let men = "K e1 k e8 p c7 p d5 P e5 R h1 white castling:K ep:d";
    let asked = |task: &str, metadata: &str| prompt(task, metadata).unwrap().replacen(men, "…", 1);
    assert_eq!(asked("reasoning_predict_move", ""), "… reasoning_predict_move");
    assert_eq!(asked("reasoning_best_move", r#""candidates":["e5d6","e1g1"]"#), "… reasoning_best_move e5 d6 e1 g1");
    assert_eq!(asked("reasoning_legal_moves", r#""square":"h1","piece":"white rook""#), "… reasoning_legal_moves R h1");
    assert_eq!(
        prompt("reasoning_worst_move", "").unwrap_err(),
        "its `candidates` are no list of moves in UCI notation"
    );
    assert_eq!(prompt("reasoning_legal_moves", "").unwrap_err(), "its `square` is no square");
    assert_eq!(prompt("structural_check", "").unwrap_err(), "the small language has no question \"structural_check\"");
}

#[test]
fn an_example_is_a_prompt_and_an_answer() {
    let metadata =
        |more: &str| serde_json::from_str(&format!(r#"{{"builder":"best_line","fen":"{PAWNS}"{more}}}"#)).unwrap();
    let example = example_words(&metadata(r#","plies":4"#), "?", "e5d6 c7d6 [Δ+12]", PositionForm::Pieces).unwrap();
    assert_eq!(names(&example.prompt[example.prompt.len() - 3..]), "best_line + 4");
    assert_eq!(names(&example.answer), "e5 d6 c7 d6 Δ + 1 2 <end>");
    let failure = |known, target| example_words(&known, "?", target, PositionForm::Pieces).unwrap_err();
    assert_eq!(failure(metadata(""), "e5d6"), "its `plies` are no number");
    assert!(failure(metadata(r#","plies":4"#), "Good.").contains("no words for \"Good.\""));
    // An answer that was kept has the name of its task.
    let kept = metadata(r#","task":"reasoning_best_move","candidates":["e5d6"]"#);
    let kept = example_words(&kept, "?", "<answer> e5d6 </answer>", PositionForm::Pieces).unwrap();
    assert!(names(&kept.prompt).ends_with("reasoning_best_move e5 d6"));
}

#[test]
fn questions_about_facts_are_words() {
    let user = "Here is a chess position:\n\n…\n\nAnswer the following; separate several answers by a space.\n\
        Is the black king in check (Yes or No)?\nCan you legally play e5d6 (Yes or No)?\n\
        Can your rook take their pawn (Yes or No)?\nWhat is white's material less black's in centipawns, if a pawn is worth 100, …?\n\
        How many legal moves has your pawn at e5?\nWhich of your squares holds the only piece that can take their pawn on d5?";
    let known = serde_json::from_str(&format!(r#"{{"builder":"factual","fen":"{PAWNS}"}}"#)).unwrap();
    let example = example_words(&known, user, "No Yes No 500 2 e5", PositionForm::Pieces).unwrap();
    let asked = names(&example.prompt);
    let asked = asked.split_once("factual ").unwrap().1;
    assert_eq!(asked, "check black legal e5 d6 capture R p material white mobility P e5 only_capture p d5");
    let other = format!("{user}\nWho is better?");
    let failure = example_words(&known, &other, "No", PositionForm::Pieces).unwrap_err();
    assert_eq!(failure, "the small language has no question \"Who is better?\"");
}

#[test]
fn other_word_lists_are_named() {
    for form in PositionForm::ALL {
        assert_eq!(PositionForm::of(Some(&form.vocabulary(99))), Ok(form));
    }
    let other = Vocabulary { form: "board".into(), version: 1, inputs: 1968, targets: 1968, longest: 78 };
    assert_eq!(
        PositionForm::of(Some(&other)).unwrap_err(),
        "its words are `board`, version 1, of 1968 words, and those of the small language are `speech/squares`, version 1, of 148 \
         words or `speech/pieces`, version 1, of 148 words"
    );
    assert!(
        PositionForm::of(None).unwrap_err().starts_with("its words are none, as it answers with labels, and those of ")
    );
}
