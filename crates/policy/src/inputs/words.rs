//! A game as words of squares, as the move GPT reads it: the origin of each move, its target and, if it promotes, the piece.
//!
//! A game of `p` plies with `m` promotions has `1 + 2p + m` words: [`BEGIN`] comes first, and nothing after the last move.
//! Castling is the move of the king. Ids and phases are those of the code of "Exploring the Limits of Probes for Latent
//! Representation Edits in GPT Models".

use cwm_encoding::PlainMove;
use shakmaty::{Role, Square};
use thiserror::Error;

/// The id that fills a batch on the right.
pub const PADDING: u16 = 0;

/// The id before the first move of a game.
pub const BEGIN: u16 = 1;

/// The id of a1; that of another square is this and the square's number (a1 = 0, b1 = 1, … h8 = 63). Ids 2 and 3 are unused.
pub const FIRST_SQUARE: u16 = 4;

/// The id of a promotion to a queen; rook, bishop and knight follow.
pub const FIRST_PROMOTION: u16 = 68;

/// Number of ids, read and predicted.
pub const VOCABULARY: usize = 72;

/// The piece of each promotion word, from [`FIRST_PROMOTION`] on.
const PIECES: [Role; 4] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

/// Words of the longest sequence of the authors' models, if nothing else is chosen.
pub const DEFAULT_CONTEXT: usize = 512;

/// The kind of the word that was read last, by the numbers of the authors' code. A model predicts the word after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Phase {
    /// The origin of a move of White.
    WhiteOrigin,
    /// Its target.
    WhiteTarget,
    /// The origin of a move of Black.
    BlackOrigin,
    /// Its target.
    BlackTarget,
    /// The piece of a promotion.
    Promotion,
    /// [`BEGIN`].
    Begin,
}

impl Phase {
    /// All, by number.
    pub const ALL: [Phase; 6] = [
        Phase::WhiteOrigin,
        Phase::WhiteTarget,
        Phase::BlackOrigin,
        Phase::BlackTarget,
        Phase::Promotion,
        Phase::Begin,
    ];

    /// Its number, 0 to 5.
    pub fn number(self) -> u8 {
        self as u8
    }
}

/// A game as words; the lists have one entry a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// The ids.
    pub ids: Vec<u16>,
    /// The kind of each word.
    pub phases: Vec<Phase>,
    /// Plies that are complete at each word. A promotion is complete with its piece.
    pub after: Vec<u32>,
    /// Plies before the move that each word belongs to.
    pub before: Vec<u32>,
}

impl Words {
    /// The words of a game.
    pub fn of(moves: impl IntoIterator<Item = PlainMove>) -> Self {
        let mut words = Words { ids: Vec::new(), phases: Vec::new(), after: Vec::new(), before: Vec::new() };
        words.push(BEGIN, Phase::Begin, 0, 0);
        for (ply, plain) in (0..).zip(moves) {
            let (origin, target) = match ply % 2 {
                0 => (Phase::WhiteOrigin, Phase::WhiteTarget),
                _ => (Phase::BlackOrigin, Phase::BlackTarget),
            };
            words.push(word_of(plain.from), origin, ply, ply);
            match promotion_word(plain) {
                None => words.push(word_of(plain.to), target, ply + 1, ply),
                Some(piece) => {
                    words.push(word_of(plain.to), target, ply, ply);
                    words.push(piece, Phase::Promotion, ply + 1, ply);
                }
            }
        }
        words
    }

    /// Number of words; at least 1, [`BEGIN`].
    #[expect(clippy::len_without_is_empty, reason = "there is always a word")]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Leaves out the words from the place `most` on.
    pub fn truncate(&mut self, most: usize) {
        self.ids.truncate(most);
        self.phases.truncate(most);
        self.after.truncate(most);
        self.before.truncate(most);
    }

    fn push(&mut self, id: u16, phase: Phase, after: u32, before: u32) {
        self.ids.push(id);
        self.phases.push(phase);
        self.after.push(after);
        self.before.push(before);
    }
}

/// Words that are no game.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum WordsError {
    /// The first word is not [`BEGIN`].
    #[error("the words do not begin with {BEGIN}")]
    NoBegin,
    /// A square or a promotion must stand there.
    #[error("word {place}, {word}, is no {expected}")]
    Unexpected {
        /// Its place, from 0.
        place: usize,
        /// Its id.
        word: u16,
        /// The kind of word that must stand there.
        expected: &'static str,
    },
    /// The words end within a move.
    #[error("the last move has no target")]
    Unfinished,
}

/// The moves of a whole game from its words.
///
/// # Errors
/// The words are no game. Whether the moves are legal is not checked.
pub fn moves(words: &[u16]) -> Result<Vec<PlainMove>, WordsError> {
    let Some((&BEGIN, rest)) = words.split_first() else { return Err(WordsError::NoBegin) };
    let mut moves = Vec::with_capacity(rest.len() / 2);
    let mut rest = (1..).zip(rest.iter().copied()).peekable();
    let square = |(place, word)| square_of(word).ok_or(WordsError::Unexpected { place, word, expected: "square" });
    while let Some(origin) = rest.next() {
        let (from, to) = (square(origin)?, square(rest.next().ok_or(WordsError::Unfinished)?)?);
        let promotion = rest.next_if(|&(_, word)| word >= FIRST_PROMOTION);
        let piece = |(place, word)| piece_of(word).ok_or(WordsError::Unexpected { place, word, expected: "word" });
        moves.push(PlainMove { from, to, promotion: promotion.map(piece).transpose()? });
    }
    Ok(moves)
}

/// The word of a square.
pub fn word_of(square: Square) -> u16 {
    FIRST_SQUARE + square.to_u32() as u16
}

/// The square of a word; `None` if it stands for none.
pub fn square_of(word: u16) -> Option<Square> {
    let number = word.checked_sub(FIRST_SQUARE)?;
    Square::try_from(u32::from(number)).ok()
}

/// The word of a move's promotion; `None` if it has none.
pub fn promotion_word(plain: PlainMove) -> Option<u16> {
    let place = PIECES.iter().position(|piece| plain.promotion == Some(*piece))?;
    Some(FIRST_PROMOTION + place as u16)
}

/// The piece of a promotion word; `None` if it stands for none.
pub fn piece_of(word: u16) -> Option<Role> {
    PIECES.get(usize::from(word.checked_sub(FIRST_PROMOTION)?)).copied()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::golden;

    fn plain(uci: &str) -> PlainMove {
        let Ok(shakmaty::uci::UciMove::Normal { from, to, promotion }) = uci.parse() else { panic!("{uci}") };
        PlainMove { from, to, promotion }
    }

    fn numbers(phases: &[Phase]) -> Vec<u8> {
        phases.iter().map(|phase| phase.number()).collect()
    }

    #[test]
    fn golden_games_have_golden_words_phases_and_boards() {
        for golden in golden::word_games() {
            let played: Vec<_> = golden.moves.split(' ').map(plain).collect();
            let words = Words::of(played.iter().copied());
            assert_eq!(words.ids, golden.ids, "game {}", golden.game);
            assert_eq!(numbers(&words.phases), golden.phase, "game {}", golden.game);
            assert_eq!(words.after, golden.board_after, "game {}", golden.game);
            assert_eq!(words.before, golden.board_before, "game {}", golden.game);
            assert_eq!(moves(&words.ids).unwrap(), played, "game {}", golden.game);
        }
    }

    #[test]
    fn the_example_of_the_specification() {
        let game = "e2e4 d7d5 e4d5 e7e6 d5e6 d8g5 e6e7 g5f6 e7f8q".split(' ').map(plain);
        let mut words = Words::of(game);
        assert_eq!(words.ids, [1, 16, 32, 55, 39, 32, 39, 56, 48, 39, 48, 63, 42, 48, 56, 42, 49, 56, 65, 68]);
        assert_eq!((words.after[18], words.after[19], words.before[19]), (8, 9, 8));
        words.truncate(2);
        assert_eq!((words.len(), words.phases.as_slice()), (2, &[Phase::Begin, Phase::WhiteOrigin][..]));
    }

    #[test]
    fn what_is_no_game_is_an_error_in_words() {
        let message = |words: &[u16]| moves(words).unwrap_err().to_string();
        assert_eq!(message(&[]), "the words do not begin with 1");
        assert_eq!(message(&[16, 32]), "the words do not begin with 1");
        assert_eq!(message(&[1, 16]), "the last move has no target");
        assert_eq!(message(&[1, 16, 68]), "word 2, 68, is no square");
        assert_eq!(message(&[1, 16, 32, 72]), "word 3, 72, is no word");
        assert_eq!(message(&[1, 16, 32, 1]), "word 3, 1, is no square");
    }

    proptest! {
        #[test]
        fn any_moves_read_back(tokens in proptest::collection::vec(0..cwm_encoding::START, 0..40)) {
            let played: Vec<_> = tokens.into_iter().filter_map(PlainMove::from_token).collect();
            let words = Words::of(played.iter().copied());
            let promotions = played.iter().filter(|plain| plain.promotion.is_some()).count();
            prop_assert_eq!(words.len(), 1 + 2 * played.len() + promotions);
            prop_assert!(words.ids.iter().all(|&id| usize::from(id) < VOCABULARY));
            prop_assert_eq!(moves(&words.ids).unwrap(), played);
        }

        #[test]
        fn any_words_are_read_without_a_panic(words in proptest::collection::vec(0u16..80, 0..20)) {
            let _ = moves(&words);
            let _ = moves(&[&[BEGIN], &words[..]].concat());
        }
    }
}
