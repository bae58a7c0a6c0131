//! The measures of a choice.

use cwm_choices::{Choice, Correctness};

/// A number of each choice: 0 or 1 of those whose means are rates, else nats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// The answer is a move.
    Valid,
    /// The answer is legal in this position.
    Legal,
    /// The answer is the best move.
    Best,
    /// `Valid` if each token is chosen behind the right ones; `Legal` and `Best` of this kind follow.
    ForcedValid,
    /// See [`Measure::ForcedValid`].
    ForcedLegal,
    /// See [`Measure::ForcedValid`].
    ForcedBest,
    /// -ln of the probability of the right answer: the sum over its tokens.
    Loss,
    /// The best move is the likeliest of the legal ones.
    MaskBest,
    /// -ln of the best move's probability among the legal ones.
    MaskLoss,
}

impl Measure {
    /// All of them.
    pub const ALL: [Measure; 9] = [
        Measure::Valid,
        Measure::Legal,
        Measure::Best,
        Measure::ForcedValid,
        Measure::ForcedLegal,
        Measure::ForcedBest,
        Measure::Loss,
        Measure::MaskBest,
        Measure::MaskLoss,
    ];

    /// Its name in claims and files.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Valid => "valid",
            Measure::Legal => "legal",
            Measure::Best => "best",
            Measure::ForcedValid => "forced_valid",
            Measure::ForcedLegal => "forced_legal",
            Measure::ForcedBest => "forced_best",
            Measure::Loss => "loss",
            Measure::MaskBest => "mask_best",
            Measure::MaskLoss => "mask_loss",
        }
    }

    /// The measure of this name.
    pub fn named(name: &str) -> Option<Self> {
        Measure::ALL.into_iter().find(|measure| measure.name() == name)
    }

    /// Returns true if its mean is a share of positions, from 0 to 1.
    pub fn is_rate(self) -> bool {
        !matches!(self, Measure::Loss | Measure::MaskLoss)
    }

    /// Its value of a choice; NaN if the choice has none.
    pub fn of(self, choice: &Choice) -> f64 {
        let rate = |is: bool| f64::from(u8::from(is));
        let forced = |of: fn(&Correctness) -> bool| choice.forced.as_ref().map(of).map(rate);
        let value = match self {
            Measure::Valid => Some(rate(choice.free.valid)),
            Measure::Legal => Some(rate(choice.free.legal)),
            Measure::Best => Some(rate(choice.free.best)),
            Measure::ForcedValid => forced(|correctness| correctness.valid),
            Measure::ForcedLegal => forced(|correctness| correctness.legal),
            Measure::ForcedBest => forced(|correctness| correctness.best),
            Measure::Loss => choice.loss,
            Measure::MaskBest => choice.mask_best.map(rate),
            Measure::MaskLoss => choice.mask_loss,
        };
        value.unwrap_or(f64::NAN)
    }
}
