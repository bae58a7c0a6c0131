//! Reads the text of an answer as a move in a position.

use cwm_encoding::PlainMove;
use shakmaty::Chess;
use shakmaty::san::San;
use shakmaty::uci::UciMove;

use crate::actions::{action_of, legal_actions, move_of};

/// The notation of a move in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// `e2e4`, `e7e8q`.
    Uci,
    /// `e4`, `e8=Q+`.
    San,
}

/// The result of reading a text as a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveReading {
    /// It names no move.
    Unreadable,
    /// It names a move that is not legal, or that several pieces could make.
    Illegal,
    /// It names the legal move with this id.
    Legal(u16),
}

/// Reads a text in this notation as a move in `position`.
pub fn read(position: &Chess, notation: Notation, text: &str) -> MoveReading {
    match notation {
        Notation::Uci => read_uci(position, text),
        Notation::San => read_san(position, text),
    }
}

/// One of the 1,968 moves.
fn read_uci(position: &Chess, text: &str) -> MoveReading {
    let Some(action) = uci_action(text) else { return MoveReading::Unreadable };
    if legal_actions(position).contains(&action) { MoveReading::Legal(action) } else { MoveReading::Illegal }
}

fn uci_action(text: &str) -> Option<u16> {
    let UciMove::Normal { from, to, promotion } = text.parse().ok()? else { return None };
    // Capitals, and promotions to a king, are read and are no action's text.
    action_of(PlainMove { from, to, promotion })
        .filter(|&action| move_of(action).is_some_and(|plain| plain.to_string() == text))
}

/// SAN by its syntax, with or without a sign of check.
fn read_san(position: &Chess, text: &str) -> MoveReading {
    match text.parse::<San>() {
        Ok(San::Put { .. } | San::Null) | Err(_) => MoveReading::Unreadable,
        Ok(san) => {
            let played = san.to_move(position).ok();
            played.and_then(|played| action_of(played.into())).map_or(MoveReading::Illegal, MoveReading::Legal)
        }
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;

    use super::*;
    use crate::actions::ACTIONS;
    use crate::golden;

    fn position(fen: &str) -> Chess {
        fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap()
    }

    #[test]
    fn legal_moves_of_golden_positions_are_read_in_both_notations() {
        for golden in golden::positions() {
            let position = golden.chess();
            for ((&action, uci), san) in golden.actions.iter().zip(&golden.legal).zip(&golden.san) {
                assert_eq!(read(&position, Notation::Uci, uci), MoveReading::Legal(action), "{} {uci}", golden.fen);
                assert_eq!(read(&position, Notation::San, san), MoveReading::Legal(action), "{} {san}", golden.fen);
            }
        }
    }

    #[test]
    fn valid_are_the_texts_of_actions_and_san_by_its_syntax() {
        let start = Chess::default();
        let texts = (0..ACTIONS as u16).map(|action| move_of(action).unwrap().to_string());
        assert_eq!(texts.filter(|text| read(&start, Notation::Uci, text) != MoveReading::Unreadable).count(), ACTIONS);
        for text in ["", "e2", "e1f4", "e7e8k", "e7e8Q", "E2e4", "e2e4 ", "e2e4q", "0000", "Nf3", "P@e4"] {
            assert_eq!(read(&start, Notation::Uci, text), MoveReading::Unreadable, "{text}");
        }
        for text in ["", "N", "Nf9", "--", "Q@e4", "Nf3 ", "Nf3++", "O-O-O-O", "e8=", "1.e4"] {
            assert_eq!(read(&start, Notation::San, text), MoveReading::Unreadable, "{text}");
        }
        for text in ["O-O", "Ke2", "Nxf3", "e5", "e8=Q+", "Qa1xb2#"] {
            assert_eq!(read(&start, Notation::San, text), MoveReading::Illegal, "{text}");
        }
        let knights = position("4k3/8/8/8/8/8/8/1N2KN2 w - - 0 1");
        assert_eq!(read(&knights, Notation::San, "Nd2"), MoveReading::Illegal);
        assert!(matches!(read(&knights, Notation::San, "Nbd2+"), MoveReading::Legal(_)));
    }
}
