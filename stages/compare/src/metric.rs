//! What models are compared by.

use crate::games::Game;

/// A metric whose mean over positions is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Loss of a position.
    Loss,
    /// Share of its labels that are right.
    Labelwise,
    /// Whether all are.
    Exact,
}

impl Metric {
    /// All of them; the index of each is its place in arrays of three.
    pub const ALL: [Metric; 3] = [Metric::Loss, Metric::Labelwise, Metric::Exact];

    /// The sum over a game's positions.
    pub fn of(self, game: &Game) -> f64 {
        match self {
            Metric::Loss => game.loss,
            Metric::Labelwise => game.labelwise,
            Metric::Exact => game.exact,
        }
    }

    /// What the names of its keys begin with (docs/formats.md, "differences"). Those of the loss were first, and begin
    /// with nothing.
    pub fn prefix(self) -> &'static str {
        match self {
            Metric::Loss => "",
            Metric::Labelwise => "labelwise_",
            Metric::Exact => "exact_",
        }
    }
}
