use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::form::Form;
use crate::truth::Position;

const FORMS: [Form; 11] = [
    Form::Move,
    Form::Moves,
    Form::Squares,
    Form::Checkers,
    Form::Arrangement,
    Form::Fen,
    Form::Lines,
    Form::ForkLines,
    Form::Battery,
    Form::Centipawns,
    Form::Letter,
];

fn initial() -> Position {
    Position::of_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1").unwrap()
}

/// The meaning of the text, its parts joined.
fn read(form: Form, text: &str) -> Option<String> {
    read_answer(form, text, Some(&initial())).map(|answer| answer.into_iter().collect::<Vec<_>>().join(", "))
}

fn read_all(response: &str) {
    extract(response);
    if let Some(text) = final_answer(response) {
        for form in FORMS {
            read_answer(form, &text, Some(&initial()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_text_panics(parts in proptest::collection::vec(
        prop_oneof![
            Just("FINAL ANSWER:".to_owned()),
            Just("the final answer is $\\boxed{".to_owned()),
            Just("\\text{".to_owned()),
            Just("```\n".to_owned()),
            Just("</think>".to_owned()),
            Just("White Queen at e5, ".to_owned()),
            Just(" e2>e4-a1 ".to_owned()),
            Just("8/8/8/8/8/8/8/8 w K e3 0 1".to_owned()),
            "[}\\s\u{1c}*_`$.,;>→−:：ıſa-h1-8-]{0,6}",
            "\\PC{0,6}",
        ],
        0..9,
    )) {
        read_all(&parts.concat());
    }

    #[test]
    fn a_marked_line_is_found_wherever_it_stands(before in "[a-z \n]{0,40}", answer in "[a-h][1-8][a-h][1-8]", after in "\n[a-z \n]{0,40}") {
        let response = format!("{before}FINAL ANSWER: {answer}{after}");
        prop_assert_eq!(extract(&response), Some(answer.clone()));
        prop_assert_eq!(final_answer(&response).map(|text| strip(&text).to_owned()), Some(answer));
    }
}

/// A megabyte of anything is read in one pass. Debug builds are some hundred times slower, and a busy machine slower still.
#[test]
fn hostile_text_takes_linear_time() {
    let limit = Duration::from_millis(if cfg!(debug_assertions) { 20_000 } else { 50 });
    for part in [
        "FINAL ANSWER:",
        "FINAL ANSWER:\n",
        "FINAL ANSWER: \n \n",
        "the final answer is \\boxed{",
        "the final answer is ",
        "the final answer is \\boxed{a}",
        "final answer * * ",
        "\\boxed{",
        "\\text{}",
        "f",
        " ",
        "\n",
        "```\n",
        "</think>",
    ] {
        let text = part.repeat((1 << 20) / part.len());
        let is_fast = || {
            let start = Instant::now();
            extract(&text);
            final_answer(&text);
            start.elapsed() < limit
        };
        assert!((0..50).any(|_| is_fast()), "{part:?} takes more than {limit:?}");
    }
}

#[test]
fn headings_are_compared_as_python_does() {
    let extracted = |text: &str| extract(text);
    assert_eq!(extracted("fİnal anſwer: e4"), Some("e4".into()));
    assert_eq!(extracted("FINAL ANSWER: FINAL ANSWER:\u{1f}e4 **"), Some("e4".into()));
    assert_eq!(extracted("FINAL ANSWER: a\nFINAL ANSWER:"), Some("a".into()));
    assert_eq!(extracted("FINAL ANSWER: a\nFINAL ANSWER:\t"), Some(String::new()));
    assert_eq!(
        extracted("The final answer is \\boxed{} and the final answer is \\boxed{b} the final"),
        Some("b".into())
    );
    assert_eq!(extracted("THE final answer is \\boxed{b}"), None);
}

#[test]
fn answers_are_read_by_their_form() {
    for (form, text, meaning) in [
        (Form::Moves, "e2-e4, Nf3 and **g1h3**", Some("e2e4, g1f3, g1h3")),
        (Form::Moves, "Ng1-f3+", Some("g1f3")),
        (Form::Moves, "Nf6", None),
        (Form::Moves, "O-O", None),
        (Form::Moves, "- e2e4", None),
        (Form::Moves, "e7e8=Q", Some("e7e8q")),
        (Form::Squares, "[E4; f5]", Some("e4, f5")),
        (Form::Squares, "e4f5", None),
        (Form::Lines, "a1 -> a2 → a8", Some("a1>a2>a8")),
        (Form::Lines, "a1-a2-a8", None),
        (Form::ForkLines, "e4 > d2 - b1; a1>h1-a8", Some("a1>a8-h1, e4>b1-d2")),
        (Form::Battery, "h1>g2>f3", Some("f3>g2>h1")),
        (Form::Checkers, "the white queen on E5 and Black Rook at a1.", Some("black rook a1, white queen e5")),
        (Form::Checkers, "white queen e5", None),
        (
            Form::Arrangement,
            "White King: [e1], Black Pawn: ['a7','b7']",
            Some("black pawn a7, black pawn b7, white king e1"),
        ),
        (Form::Arrangement, "White: e1", None),
        (Form::Centipawns, "about −200 cp", Some("-200")),
        (Form::Centipawns, "equal", None),
        (Form::Letter, "(c)", Some("C")),
        (Form::Letter, "A good move", None),
        (Form::Letter, "E", Some("E")),
        (Form::Letter, "1", None),
    ] {
        assert_eq!(read(form, text).as_deref(), meaning, "{text}");
    }
}

#[test]
fn fens_are_compared_without_captures_that_cannot_be() {
    let textbook = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1";
    assert_eq!(read(Form::Fen, textbook), read(Form::Fen, &textbook.replace("e3", "-")));
    assert_eq!(read(Form::Fen, &textbook.replace("KQkq", "qkQK")), read(Form::Fen, textbook));
    assert_ne!(read(Form::Fen, &textbook.replace("e3", "d3")), read(Form::Fen, textbook));
    let legal = "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1";
    assert_eq!(read(Form::Fen, legal).as_deref(), Some(legal));
    for wrong in ["4k3/8/8/8/8/8/8/4K3 b - - 0", "4k3/8/8/8/8/8/8/4K3 b KK - 0 1", "4k3/8/8/8/8/8/8/4K3 b - e9 0 1"] {
        assert_eq!(read(Form::Fen, wrong), None, "{wrong}");
    }
}
