//! The likeliest next moves of a model of words.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use cwm_contract::Failure;
use cwm_encoding::{PlainMove, legal};
use cwm_policy::inputs::words::{FIRST_PROMOTION, FIRST_SQUARE, VOCABULARY, piece_of, square_of};
use shakmaty::san::SanPlus;
use shakmaty::{Chess, Position, Rank, Role, Square};

use super::inside::InspectedModel;
use super::position_prediction::MovePrediction;
use super::prediction::distribution;

/// Number of moves.
const MOVES: usize = 3;

/// The likeliest moves after the words `read`, legal or not, the likeliest first; none where the game is over. The probability of
/// a move is the product of those of its words.
///
/// The likeliest beginning of a move is continued first. A continuation is never likelier than what it continues, so whole moves
/// come in their order, and few passes find them.
///
/// # Errors
/// The words are more than the model reads.
pub fn likeliest(inside: &InspectedModel, read: &[u16], position: &Chess) -> Result<Vec<MovePrediction>, Failure> {
    let mut found = Vec::new();
    if position.legal_moves().is_empty() {
        return Ok(found);
    }
    let mut begun = BinaryHeap::from([PartialMove { probability: 1.0, words: Vec::new() }]);
    while let Some(likeliest) = begun.pop().filter(|_| found.len() < MOVES) {
        match next_words(position, &likeliest.words) {
            Some(next) => {
                let (_, probabilities) = distribution(&inside.logits(&[read, &likeliest.words].concat())?);
                begun.extend(next.map(|word| PartialMove {
                    probability: likeliest.probability * probabilities[usize::from(word)],
                    words: [&likeliest.words[..], &[word]].concat(),
                }));
            }
            None => found.extend(likeliest.prediction(position)),
        }
    }
    Ok(found)
}

/// The words that stand at this place of a move; `None` after its last.
fn next_words(position: &Chess, begun: &[u16]) -> Option<std::ops::Range<u16>> {
    let squares = FIRST_SQUARE..FIRST_PROMOTION;
    match begun {
        [] | [_] => Some(squares),
        &[from, to] if is_promotion(position, square_of(from)?, square_of(to)?) => {
            Some(FIRST_PROMOTION..VOCABULARY as u16)
        }
        _ => None,
    }
}

/// True if a pawn of the side to move goes to its last rank, by whatever way.
fn is_promotion(position: &Chess, from: Square, to: Square) -> bool {
    let last = position.turn().fold_wb(Rank::Eighth, Rank::First);
    let pawns = position.our(Role::Pawn);
    pawns.contains(from) && to.rank() == last
}

/// The first words of a move.
struct PartialMove {
    probability: f64,
    words: Vec<u16>,
}

impl PartialMove {
    fn prediction(&self, position: &Chess) -> Option<MovePrediction> {
        let square = |place: usize| square_of(*self.words.get(place)?);
        let promotion = self.words.get(2).and_then(|&word| piece_of(word));
        let plain = PlainMove { from: square(0)?, to: square(1)?, promotion };
        let san = legal(position, plain).map(|played| SanPlus::from_move(position.clone(), played).to_string());
        Some(MovePrediction { uci: plain.to_string(), san, probability: self.probability })
    }
}

/// By probability; of equal ones the one with the lower words is greater, so that it comes first.
impl Ord for PartialMove {
    fn cmp(&self, other: &Self) -> Ordering {
        self.probability.total_cmp(&other.probability).then_with(|| other.words.cmp(&self.words))
    }
}

impl PartialOrd for PartialMove {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PartialMove {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for PartialMove {}
