//! Answers to words and back.

use proptest::prelude::*;

use super::names;
use crate::words::{COUNT, END};
use crate::{answer_words, text};

fn read(answer: &str) -> Vec<u16> {
    answer_words(answer).unwrap()
}

#[test]
fn answers_of_the_builders_are_words_and_back() {
    for (answer, words) in [
        ("e7e8q", "e7 e8 =q"),
        ("d5e4 e1g1 c8a6 [Δ-89]", "d5 e4 e1 g1 c8 a6 Δ - 8 9"),
        ("d5e4 e1g1 mate", "d5 e4 e1 g1 mate"),
        ("d5e4 [Δ+0]", "d5 e4 Δ + 0"),
        ("Yes No 5 320 -230 e4 e5 No", "Yes No + 5 + 3 2 0 - 2 3 0 @ e4 @ e5 No"),
    ] {
        assert_eq!(names(&read(answer)), words);
        assert_eq!(text(&read(answer)), answer);
    }
}

#[test]
fn of_prose_with_tags_the_words_of_the_language_are_kept() {
    let answer = "I will compare.\n<think> First consider black knight captures the pawn on c2 (d4c2) [v+12].\n| They can answer \
                  with e1e2 and e1d1, or d1c2 [mm-30]! </think>\n\n<answer>['d4c2','e7e8q']</answer>";
    let words = read(answer);
    assert_eq!(
        names(&words),
        "<think> d4 c2 v + 1 2 | e1 e2 e1 d1 d1 c2 mm - 3 0 </think> <answer> d4 c2 e7 e8 =q </answer>"
    );
    let written = text(&words);
    assert_eq!(written, "<think> d4c2 [v+12] | e1e2 e1d1 d1c2 [mm-30] </think> <answer> d4c2 e7e8q </answer>");
    assert_eq!(read(&written), words);
    assert_eq!(
        names(&read("<think>\n\n</think>\n<answer> e7E8 E7e8 e7e8Q e7e8x e7e9 </answer>")),
        "<think> </think> <answer> </answer>"
    );
}

#[test]
fn what_has_no_words_is_named() {
    let failure = |answer: &str| answer_words(answer).unwrap_err();
    assert_eq!(failure("e2e4 hello"), "the small language has no words for \"hello\" of the answer \"e2e4 hello\"");
    for answer in ["[Δ89]", "[Δ+]", "+5", "-", "--5", "e2e4k", "yes", "E2", "[x+1]", "é2e4"] {
        assert!(failure(answer).starts_with("the small language has no words for"), "{answer}");
    }
    assert_eq!(answer_words("  "), Ok(Vec::new()));
}

#[test]
fn words_out_of_place_are_shown_one_by_one() {
    let word = |name: &str| (0..COUNT).find(|&word| crate::name(word) == name).unwrap();
    let shown = |words: &[&str]| text(&words.iter().map(|name| word(name)).collect::<Vec<_>>());
    assert_eq!(shown(&["e2"]), "e2");
    assert_eq!(shown(&["e2", "e4", "e5"]), "e2e4 e5");
    assert_eq!(shown(&["e2", "=q", "@"]), "e2 =q @");
    assert_eq!(shown(&["v", "1", "+"]), "v 1 +");
    assert_eq!(shown(&["v", "mm", "-", "1"]), "v [mm-1]");
    assert_eq!(shown(&["white", "P", ".", "castling:Kq", "ep:c", "<padding>"]), "white P . castling:Kq ep:c <padding>");
    assert_eq!(shown(&["e2", "e4", "<end>", "e5"]), "e2e4");
    assert_eq!(text(&[u16::MAX]), "?");
    assert_eq!(text(&[END]), "");
}

fn part() -> impl Strategy<Value = String> {
    let tags = prop::sample::select(vec!["<think>", "</think>", "<answer>", "</answer>", "|"]);
    prop_oneof!["[a-h][1-8][a-h][1-8][qrbn]?", r"\[(Δ|v|mm)[+-][0-9]{1,4}\]", tags.prop_map(str::to_owned),]
}

proptest! {
    #[test]
    fn texts_of_the_language_come_back(parts in prop::collection::vec(part(), 0..20), direct in prop::collection::vec("Yes|No|mate|[a-h][1-8]|0|-?[1-9][0-9]{0,4}", 0..9)) {
        for answer in [[&["<answer>".to_owned()][..], &parts].concat().join(" "), direct.join(" ")] {
            prop_assert_eq!(text(&read(&answer)), answer);
        }
    }

    #[test]
    fn any_words_are_a_text_and_any_text_is_read_or_refused(words in prop::collection::vec(0..COUNT + 9, 0..30), answer in "\\PC*|[a-h1-8 \\[\\]<>/|Δvm+-]*") {
        let written = text(&words);
        for answer in [written.clone(), answer.clone(), format!("<answer>{answer}"), format!("<answer>{written}")] {
            if let Ok(words) = answer_words(&answer) {
                prop_assert!(words.iter().all(|word| *word < COUNT));
                text(&words);
            }
        }
    }
}
