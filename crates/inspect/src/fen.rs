//! The 75 labels of a position in Forsyth-Edwards notation.

use cwm_encoding::LABELS;

/// The position with these labels. Where a label is out of its range, `?` stands for it.
pub fn fen(labels: &[u8; LABELS]) -> String {
    let (squares, state) = labels.split_at(64);
    let ranks: Vec<String> = squares.chunks(8).map(rank).collect();
    let side = named(state[0], &["w", "b"]);
    let rights = [(1, "K"), (2, "Q"), (3, "k"), (4, "q")];
    let rights: String = rights.into_iter().filter(|(at, _)| state[*at] != 0).map(|(_, right)| right).collect();
    let rights = if rights.is_empty() { "-".to_owned() } else { rights };
    let en_passant = match (state[5], state[6]) {
        (0, _) | (_, 0) => "-".to_owned(),
        (file, rank) => {
            format!("{}{}", named(file - 1, &["a", "b", "c", "d", "e", "f", "g", "h"]), named(rank - 1, &["3", "6"]))
        }
    };
    let [halfmoves, fullmoves] = [7, 9].map(|at| u16::from_be_bytes([state[at], state[at + 1]]));
    format!("{} {side} {rights} {en_passant} {halfmoves} {fullmoves}", ranks.join("/"))
}

fn rank(squares: &[u8]) -> String {
    let mut text = String::new();
    let mut empty = 0;
    for &class in squares {
        if class == 0 {
            empty += 1;
            continue;
        }
        if empty > 0 {
            text += &std::mem::take(&mut empty).to_string();
        }
        text += named(class - 1, &["P", "N", "B", "R", "Q", "K", "p", "n", "b", "r", "q", "k"]);
    }
    if empty > 0 { text + &empty.to_string() } else { text }
}

fn named<'n>(class: u8, names: &[&'n str]) -> &'n str {
    names.get(usize::from(class)).copied().unwrap_or("?")
}

#[cfg(test)]
mod tests {
    use cwm_encoding::{EnPassant, labels_of};
    use proptest::prelude::*;
    use shakmaty::fen::Fen;
    use shakmaty::{Chess, EnPassantMode, Position};

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn random_positions_read_as_shakmaty_writes_them(choices in proptest::collection::vec(any::<u16>(), 0..120)) {
            let mut position = Chess::default();
            for choice in choices {
                let moves = position.legal_moves();
                if moves.is_empty() {
                    break;
                }
                position.play_unchecked(moves[usize::from(choice) % moves.len()]);
                let expected = Fen::from_position(&position, EnPassantMode::Always).to_string();
                prop_assert_eq!(fen(&labels_of(&position, EnPassant::Always)), expected);
            }
        }

        #[test]
        fn any_bytes_are_reported(labels in proptest::collection::vec(any::<u8>(), LABELS)) {
            prop_assert!(fen(labels.as_chunks::<LABELS>().0.first().unwrap()).len() > 20);
        }
    }
}
