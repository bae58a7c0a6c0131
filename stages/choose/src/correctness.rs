//! The correctness of an answer: valid, legal, the best move.

use cwm_choices::Correctness;
use cwm_encoding::legal;
use cwm_policy::actions::move_of;
use cwm_policy::answers::{MoveReading, Notation, read};
use shakmaty::Chess;
use shakmaty::san::San;

/// The correctness of an answer in this notation in a position whose best move is `best`. In SAN the best move is the
/// text that names it, signs of check aside, and not one that names more squares than it needs.
pub fn correctness(position: &Chess, notation: Notation, answer: &str, best: u16) -> Correctness {
    match read(position, notation, answer) {
        MoveReading::Unreadable => Correctness::default(),
        MoveReading::Illegal => Correctness { valid: true, ..Correctness::default() },
        MoveReading::Legal(action) => {
            let is_in_san = || san(position, best).is_some_and(|san| answer.trim_end_matches(['+', '#']) == san);
            Correctness { valid: true, legal: true, best: action == best && (notation == Notation::Uci || is_in_san()) }
        }
    }
}

/// The notation of an answer of another program: UCI if it is that of a move, else SAN.
pub fn notation_of(position: &Chess, answer: &str) -> Notation {
    match read(position, Notation::Uci, answer) {
        MoveReading::Unreadable => Notation::San,
        MoveReading::Illegal | MoveReading::Legal(_) => Notation::Uci,
    }
}

fn san(position: &Chess, action: u16) -> Option<String> {
    Some(San::from_move(position, legal(position, move_of(action)?)?).to_string())
}

#[cfg(test)]
mod tests {
    use cwm_policy::inputs::board::Board;

    use super::*;

    #[test]
    fn an_answer_in_san_is_best_without_its_sign_and_not_with_squares_too_many() {
        let board = Board::parse("4k3/8/8/8/8/8/8/R3K1N1 w - - 0 1").unwrap();
        let of = |notation, answer: &str, best: &str| {
            let MoveReading::Legal(best) = read(board.position(), Notation::Uci, best) else { panic!("{best}") };
            let Correctness { valid, legal, best } = correctness(board.position(), notation, answer, best);
            [valid, legal, best]
        };
        assert_eq!(of(Notation::San, "Ra8+", "a1a8"), [true; 3]);
        assert_eq!(of(Notation::San, "Ra8", "a1a8"), [true; 3]);
        assert_eq!(of(Notation::San, "R1a8", "a1a8"), [true, true, false]);
        assert_eq!(of(Notation::San, "Nf3", "a1a8"), [true, true, false]);
        assert_eq!(of(Notation::San, "Nf4", "a1a8"), [true, false, false]);
        assert_eq!(of(Notation::San, "a1a8", "a1a8"), [true, false, false]);
        assert_eq!(of(Notation::San, "Ra8 ", "a1a8"), [false; 3]);
        assert_eq!(of(Notation::Uci, "a1a8", "a1a8"), [true; 3]);
        assert_eq!(of(Notation::Uci, "Ra8", "a1a8"), [false; 3]);
        assert_eq!(notation_of(board.position(), "a1a8"), Notation::Uci);
        assert_eq!(notation_of(board.position(), "Ra8"), Notation::San);
    }
}
