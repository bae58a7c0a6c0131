//! Words that continue a legal move, and the same on boards from which a piece was taken.

use cwm_encoding::PlainMove;
use shakmaty::attacks::{attacks, pawn_attacks};
use shakmaty::{Bitboard, Board, Chess, Color, Piece, Position, Rank, Role, Setup, Square};

use crate::inputs::words::{FIRST_PROMOTION, FIRST_SQUARE, VOCABULARY, promotion_word, square_of, word_of};

/// A set of words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordSet(u128);

impl WordSet {
    /// The words of these squares.
    pub fn of_squares(squares: Bitboard) -> Self {
        WordSet(u128::from(squares.0) << FIRST_SQUARE)
    }

    /// True if the word is in the set.
    pub fn contains(self, word: u16) -> bool {
        usize::from(word) < VOCABULARY && self.0 >> word & 1 == 1
    }

    /// True if no word is in the set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The words that are in both sets.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        WordSet(self.0 & other.0)
    }

    /// The words, ascending.
    pub fn iter(self) -> impl Iterator<Item = u16> {
        (0..VOCABULARY as u16).filter(move |&word| self.contains(word))
    }

    /// The share of probability on the words of the set: the softmax of a row of logits in f64, summed over them.
    ///
    /// # Panics
    /// There are fewer logits than words.
    pub fn mass(self, logits: &[f32]) -> f64 {
        let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let weight = |logit: f32| (f64::from(logit) - f64::from(most)).exp();
        let all: f64 = logits.iter().map(|&logit| weight(logit)).sum();
        self.iter().map(|word| weight(logits[usize::from(word)])).sum::<f64>() / all
    }
}

impl FromIterator<u16> for WordSet {
    fn from_iter<T: IntoIterator<Item = u16>>(words: T) -> Self {
        WordSet(words.into_iter().filter(|&word| usize::from(word) < VOCABULARY).fold(0, |set, word| set | 1 << word))
    }
}

/// The legal moves of a position, as words.
#[derive(Clone, Debug)]
pub struct LegalWords(Vec<PlainMove>);

impl LegalWords {
    /// The legal moves of a position.
    pub fn of(position: &Chess) -> Self {
        LegalWords(position.legal_moves().into_iter().map(PlainMove::from).collect())
    }

    /// True if there is no legal move: the game is over.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The words that begin a legal move.
    pub fn origins(&self) -> WordSet {
        self.0.iter().map(|plain| word_of(plain.from)).collect()
    }

    /// The words that continue a legal move of which the words in `begun` are written: none, its origin, or origin and target.
    /// It is empty if no legal move goes on from there.
    pub fn after(&self, begun: &[u16]) -> WordSet {
        let squares: Vec<_> = begun.iter().map(|&word| square_of(word)).collect();
        let from = |origin: Option<Square>| self.0.iter().filter(move |plain| Some(plain.from) == origin);
        match squares[..] {
            [] => self.origins(),
            [origin] => from(origin).map(|plain| word_of(plain.to)).collect(),
            [origin, target] => from(origin)
                .filter(|plain| Some(plain.to) == target)
                .filter_map(|&plain| promotion_word(plain))
                .collect(),
            _ => WordSet::default(),
        }
    }

    /// The words that the authors' own script counts as legal: as [`LegalWords::after`] before a move, the target of
    /// any legal move after an origin, and any word at all where a promotion is due.
    pub fn loosely_after(&self, begun: &[u16]) -> WordSet {
        match begun {
            [] => self.origins(),
            [_] => self.0.iter().map(|plain| word_of(plain.to)).collect(),
            _ => (0..VOCABULARY as u16).collect(),
        }
    }
}

/// True for the words that name the piece of a promotion.
pub fn is_promotion(word: u16) -> bool {
    usize::from(word) < VOCABULARY && word >= FIRST_PROMOTION
}

/// The words that begin a move of the side to move when the piece on `square` is gone: those of [`BareBoard::origins`].
pub fn origins_without(position: &Chess, square: Square) -> WordSet {
    BareBoard::of(position).without(square).origins()
}

/// Pieces, side to move and en passant square, which need be no position of chess: a king may be gone, or stand where it could
/// be taken.
#[derive(Clone, Debug)]
pub struct BareBoard {
    board: Board,
    turn: Color,
    en_passant: Option<Square>,
}

impl BareBoard {
    /// The board of a position.
    pub fn of(position: &Chess) -> Self {
        let (board, turn) = (position.board().clone(), position.turn());
        BareBoard { board, turn, en_passant: position.maybe_ep_square() }
    }

    /// The board of a FEN, whether or not it is a position: the side to move may take the king.
    pub fn of_setup(setup: &Setup) -> Self {
        BareBoard { board: setup.board.clone(), turn: setup.turn, en_passant: setup.ep_square }
    }

    /// Returns this board without the piece on `square`, with the same side to move. A pawn that is gone is taken en passant
    /// by none.
    #[must_use]
    pub fn without(mut self, square: Square) -> Self {
        self.board.discard_piece_at(square);
        let (behind, before) = (-8, 8);
        self.en_passant.take_if(|to| to.offset(self.turn.fold_wb(behind, before)) == Some(square));
        self
    }

    /// The words that begin a move of the side to move that leaves its king safe; without a king every pseudo-legal move counts.
    ///
    /// Castling changes no origin: where a king may castle, it may step to the square next to it.
    pub fn origins(&self) -> WordSet {
        let ours = self.board.by_color(self.turn).into_iter();
        WordSet::of_squares(ours.filter(|&from| !self.targets(from).is_empty()).collect())
    }

    /// The squares to which the piece on `from` goes and leaves its king safe, castling left out.
    pub fn targets(&self, from: Square) -> Bitboard {
        let Some(piece) = self.board.piece_at(from) else { return Bitboard::EMPTY };
        let targets = targets(&self.board, from, piece, self.en_passant);
        match self.board.king_of(self.turn) {
            Some(king) => targets.into_iter().filter(|&to| self.is_safe(king, from, to, piece)).collect(),
            None => targets,
        }
    }

    /// True if the king of the side to move, which stands on `king`, is attacked by none after a move.
    fn is_safe(&self, king: Square, from: Square, to: Square, piece: Piece) -> bool {
        let mut after = self.board.clone();
        after.discard_piece_at(from);
        if piece.role == Role::Pawn && self.en_passant == Some(to) {
            after.discard_piece_at(Square::from_coords(to.file(), from.rank()));
        }
        after.set_piece_at(to, piece);
        let king = if piece.role == Role::King { to } else { king };
        after.attacks_to(king, !self.turn, after.occupied()).is_empty()
    }
}

/// The squares to which a piece goes by its way of moving, castling left out.
fn targets(board: &Board, from: Square, piece: Piece, en_passant: Option<Square>) -> Bitboard {
    let occupied = board.occupied();
    if piece.role != Role::Pawn {
        return attacks(from, piece, occupied) & !board.by_color(piece.color);
    }
    let (step, start) = match piece.color {
        Color::White => (8, Rank::Second),
        Color::Black => (-8, Rank::Seventh),
    };
    let free = |square: Option<Square>| square.filter(|square| !occupied.contains(*square));
    let single = free(from.offset(step));
    let double = single.filter(|_| from.rank() == start).and_then(|square| free(square.offset(step)));
    let mut taken = board.by_color(!piece.color);
    taken.extend(en_passant);
    pawn_attacks(piece.color, from) & taken | single.into_iter().chain(double).collect::<Bitboard>()
}

// Golden positions and masses: `cwm model parity` compares them, and its tests (crates/model-tools).
#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn words(set: WordSet) -> Vec<u16> {
        set.iter().collect()
    }

    #[test]
    fn what_the_authors_count_is_looser() {
        let legal = LegalWords::of(&Chess::default());
        let e2 = word_of(Square::E2);
        assert_eq!(words(legal.after(&[e2])), [word_of(Square::E3), word_of(Square::E4)]);
        assert_eq!(words(legal.loosely_after(&[e2])).len(), 16);
        assert_eq!(words(legal.loosely_after(&[e2, word_of(Square::E4)])).len(), VOCABULARY);
        assert!(legal.after(&[e2, word_of(Square::E4)]).is_empty() && legal.after(&[word_of(Square::E4)]).is_empty());
        assert_eq!(legal.loosely_after(&[]), legal.origins());
        assert!(is_promotion(71) && !is_promotion(72) && !is_promotion(67));
        assert!((legal.origins().mass(&[0.5; VOCABULARY]) - 10.0 / 72.0).abs() < 1e-12);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]
        /// Taking nothing away leaves what shakmaty finds legal: the square is empty.
        #[test]
        fn without_nothing_the_origins_are_those_of_legal_moves(choices in proptest::collection::vec(any::<u16>(), 0..160)) {
            let mut position = Chess::default();
            for choice in choices {
                let legal = position.legal_moves();
                let Some(&played) = legal.get(usize::from(choice) % legal.len().max(1)) else { break };
                position.play_unchecked(played);
                let pawn = position.maybe_ep_square().and_then(|to| position.turn().fold_wb(to.offset(-8), to.offset(8)));
                let empty = (!position.board().occupied()).into_iter().find(|square| Some(*square) != pawn);
                let found = origins_without(&position, empty.unwrap());
                let expected: BTreeSet<u16> = position.legal_moves().iter().map(|played| word_of(played.from().unwrap())).collect();
                prop_assert_eq!(words(found), Vec::from_iter(expected));
            }
        }
    }
}
