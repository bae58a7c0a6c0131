//! Measures of an answered move.

use crate::values::{Values, centipawns};

/// Moves of pawns at the edge, and of rooks and knights between the corners and their neighbours, which a player makes who does not
/// look at the position.
const TRIVIAL: [&str; 16] = [
    "a2a3", "a2a4", "h2h3", "h2h4", "a7a6", "a7a5", "h7h6", "h7h5", "a1b1", "b1a1", "h1g1", "g1h1", "a8b8", "b8a8",
    "h8g8", "g8h8",
];

/// Measures of a legal move that was answered; each is none where there is no such move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MoveMeasures {
    /// 1 less the share of the other legal moves that are worth more.
    pub rank: Option<f64>,
    /// True if it is one of sixteen moves that need no look at the position.
    pub trivial: Option<bool>,
    /// True if no legal move is worth more.
    pub best: Option<bool>,
    /// The win probability of the best move less its own.
    pub win_loss: Option<f64>,
    /// The centipawns of the best move less its own, at most 1,000; both are taken as within ±1,000, and so are mates.
    pub cp_loss: Option<f64>,
}

impl MoveMeasures {
    /// The measures of the answered text.
    pub(crate) fn of(values: &Values, uci: &str) -> MoveMeasures {
        let Some(at) = values.place(uci) else { return MoveMeasures::default() };
        let (win, best) = (values.win(at), values.best().1);
        MoveMeasures {
            rank: Some(values.rank(at)),
            trivial: Some(TRIVIAL.contains(&uci)),
            best: Some(win == best),
            win_loss: Some(best - win),
            cp_loss: Some((bounded(best) - bounded(win)).min(MAX_CENTIPAWNS)),
        }
    }
}

/// The most centipawns of a value, and of a loss.
const MAX_CENTIPAWNS: f64 = 1_000.;

fn bounded(win: f64) -> f64 {
    centipawns(win).clamp(-MAX_CENTIPAWNS, MAX_CENTIPAWNS)
}

#[cfg(test)]
mod tests;
