//! A game as characters, as chess-GPT reads it: `;1.e4 e5 2.Nf3 Nc6`.
//!
//! A `;`, then for White's moves number and dot, moves in SAN with `+` and `#`, one space between words; no result and no
//! comment.

use std::ops::Range;

use shakmaty::san::SanPlus;
use shakmaty::{Chess, Color, Move, Position};

/// The characters by id.
pub const SYMBOLS: &str = " #+-.0123456789;=BKNOQRabcdefghx";

/// Number of ids.
pub const VOCABULARY: usize = 32;

/// Characters of a game that are used; what comes after them is cut.
pub const MOST_CHARACTERS: usize = 1024;

/// The id of the space, which ends a move.
pub const END: u16 = 0;

/// Characters of a move with its end, at most.
pub const MOST_ANSWER: usize = 10;

/// The ids of a text; the error is the first character that has none.
pub fn ids(text: &str) -> Result<Vec<u8>, char> {
    super::ids_of(SYMBOLS, text)
}

/// A game as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MoveText {
    /// All of it.
    pub text: String,
    /// The bytes of each move in the text.
    pub moves: Vec<Range<usize>>,
}

impl MoveText {
    /// The text of the game of these moves.
    ///
    /// # Panics
    /// A move is not legal: callers have replayed the game.
    pub fn of(moves: impl IntoIterator<Item = Move>) -> Self {
        MoveText::with_position(moves).0
    }

    /// The text of the game of these moves, up to where the next one begins.
    ///
    /// # Panics
    /// As [`MoveText::of`].
    pub fn before_next(moves: impl IntoIterator<Item = Move>) -> String {
        let (mut written, position) = MoveText::with_position(moves);
        written.begin_move(&position);
        written.text
    }

    /// The text with the position at its end.
    fn with_position(moves: impl IntoIterator<Item = Move>) -> (Self, Chess) {
        let mut written = MoveText { text: ";".to_owned(), moves: Vec::new() };
        let mut position = Chess::default();
        for played in moves {
            assert!(position.is_legal(played), "{played:?} is not legal");
            written.begin_move(&position);
            let begin = written.text.len();
            SanPlus::from_move_and_play_unchecked(&mut position, played).append_to_string(&mut written.text);
            written.moves.push(begin..written.text.len());
        }
        (written, position)
    }

    /// Writes the text before a move in `position`: a space but for the first, and for White the number of the move.
    fn begin_move(&mut self, position: &Chess) {
        if !self.moves.is_empty() {
            self.text.push(' ');
        }
        if position.turn() == Color::White {
            self.text += &format!("{}.", position.fullmoves());
        }
    }

    /// The ids of the characters, at most [`MOST_CHARACTERS`].
    pub fn ids(&self) -> Vec<u8> {
        ids(&self.text[..self.text.len().min(MOST_CHARACTERS)]).expect("a game has no other characters")
    }

    /// The moves that stand whole among these characters.
    pub fn whole_moves(&self) -> &[Range<usize>] {
        &self.moves[..self.moves.partition_point(|place| place.end <= MOST_CHARACTERS)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden;

    /// The moves of a text, by no code of the product.
    fn read(text: &str) -> Vec<Move> {
        let mut position = Chess::default();
        let words = text.trim_start_matches(';').split(' ');
        let san = words.map(|word| word.rsplit('.').next().unwrap());
        san.map(|san| {
            let played = san.parse::<SanPlus>().unwrap().san.to_move(&position).unwrap();
            position.play_unchecked(played);
            played
        })
        .collect()
    }

    #[test]
    fn golden_games_have_golden_texts() {
        for golden in golden::texts() {
            let written = MoveText::of(read(&golden.text));
            assert_eq!(written.text, golden.text, "{}", golden.site);
            assert_eq!(written.ids(), golden.tokens, "{}", golden.site);
            let places: Vec<[usize; 2]> = written.whole_moves().iter().map(|at| [at.start, at.end]).collect();
            assert_eq!(places, golden.answers, "{}", golden.site);
            for (moves, [begin, _]) in golden.answers.iter().enumerate() {
                let before = MoveText::before_next(read(&golden.text).into_iter().take(moves));
                assert_eq!(before, golden.text[..*begin], "{}", golden.site);
            }
        }
    }

    #[test]
    fn a_long_game_is_cut_and_its_last_move_is_not_whole() {
        let shuffle = ["g1f3", "g8f6", "f3g1", "f6g8"];
        let mut position = Chess::default();
        let moves = shuffle.iter().cycle().take(400).map(|uci| {
            let played = uci.parse::<shakmaty::uci::UciMove>().unwrap().to_move(&position).unwrap();
            position.play_unchecked(played);
            played
        });
        let written = MoveText::of(moves);
        assert_eq!(written.ids().len(), MOST_CHARACTERS);
        let last = written.whole_moves().last().unwrap();
        assert!(last.end <= MOST_CHARACTERS && last.end + 8 > MOST_CHARACTERS, "{last:?}");
        assert!(MoveText::of([]).text == ";" && MoveText::of([]).whole_moves().is_empty());
    }
}
