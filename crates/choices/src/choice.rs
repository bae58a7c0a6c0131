//! A position, the best move and the one that was chosen.

/// The choice of a model in a position.
///
/// An answer is `forced` if the model saw the right answer up to each token that it chose, and `free` if it saw its own. Of a
/// model whose answer is one token the two are the same.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// Ordinal of the position's record in its evaluations.
    pub record: u64,
    /// The game that the position is from, by the `index` of its games file.
    pub game: Option<u64>,
    /// Plies of the game before the position.
    pub t: Option<u32>,
    /// The position.
    pub fen: String,
    /// Number of legal moves.
    pub legal_moves: u16,
    /// The best move, packed (see `PlainMove::packed` of cwm-encoding).
    pub best: u16,
    /// True if the model was trained on the position; none if its training positions were not given.
    pub seen: Option<bool>,
    /// -ln of the probability of the right answer, in nats: the sum over its tokens.
    pub loss: Option<f64>,
    /// Number of tokens of the right answer.
    pub tokens: Option<u16>,
    /// The forced answer as text, without its end token; none if only a free one is known.
    pub forced_text: Option<String>,
    /// The correctness of the forced answer.
    pub forced: Option<Correctness>,
    /// The free answer as text, without its end token.
    pub text: String,
    /// The correctness of the free answer.
    pub free: Correctness,
    /// True if the likeliest of the legal moves is the best one; of models whose answer is one token.
    pub mask_best: Option<bool>,
    /// -ln of the probability of the best move among the legal ones, in nats; of models whose answer is one token.
    pub mask_loss: Option<f64>,
}

/// The correctness of an answer. Each property includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Correctness {
    /// The answer names a move.
    pub valid: bool,
    /// The move is legal.
    pub legal: bool,
    /// The move is the best one.
    pub best: bool,
}
