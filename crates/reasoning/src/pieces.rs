//! Pieces, colours and moves in words.

use cwm_encoding::PlainMove;
use cwm_questions::truth::role_name;
use shakmaty::{Chess, Color, Move, Position};

pub(crate) fn color_word(color: Color) -> &'static str {
    color.fold_wb("white", "black")
}

/// A legal move as UCI writes it.
pub(crate) fn uci(played: Move) -> String {
    PlainMove::from(played).to_string()
}

/// A legal move in words, with its UCI text in brackets: `black knight captures the pawn on c2 (d4c2)`.
pub(crate) fn move_in_words(position: &Chess, played: Move) -> String {
    let color = color_word(position.turn());
    let mut text = match played {
        Move::Castle { king, rook } => {
            format!("{color} castles {}", if king < rook { "kingside" } else { "queenside" })
        }
        _ => {
            let to = PlainMove::from(played).to;
            let action = match played.capture() {
                Some(captured) => format!("captures the {} on {to}", role_name(captured)),
                None => format!("moves to {to}"),
            };
            format!("{color} {} {action}", role_name(played.role()))
        }
    };
    if let Some(role) = played.promotion() {
        text += &format!(", promoting to {}", role_name(role));
    }
    let mut after = position.clone();
    after.play_unchecked(played);
    if after.is_checkmate() {
        text += " delivering checkmate";
    } else if after.is_check() {
        text += " putting the king in check";
    }
    format!("{text} ({})", uci(played))
}
