use cwm_questions::truth::chess_of_fen;
use serde::Deserialize;

use super::*;
use crate::golden;

#[derive(Deserialize)]
struct Texts {
    id: usize,
    visual: String,
    uniform_visual: String,
    spaced_fen: String,
}

#[test]
fn golden_boards_are_written_byte_for_byte_and_read_back() {
    let (Some(fens), Some(boards)) = (golden::fens(), golden::lines::<Texts>("boards.jsonl")) else { return };
    assert!(!boards.is_empty());
    for Texts { id, visual, uniform_visual, spaced_fen } in boards {
        let (chess, _) = chess_of_fen(&fens[id]).unwrap();
        for (form, text) in BoardForm::ALL.into_iter().zip([&visual, &uniform_visual, &fens[id], &spaced_fen]) {
            assert_eq!(&board_text(&chess, form), text);
            assert_eq!(board_from_text(text).unwrap(), fens[id]);
        }
    }
}

#[test]
fn a_drawing_without_a_line_is_refused() {
    let text = board_text(&shakmaty::Chess::default(), BoardForm::Visual);
    let without = |line: &str| board_from_text(&text.replace(line, "")).unwrap_err();
    assert_eq!(without("4| . . . . . . . .\n"), "the drawing has no line of rank 4");
    assert_eq!(without("- Halfmove clock: 0\n"), "the text has no line '- Halfmove clock: …'");
}
