//! Ranks of moves, and the rewards that follow from values.

use super::Values;

/// The scale of a legal move's reward among the values of the legal moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scaling {
    /// From 0 for the least value to 1 for the greatest.
    #[default]
    Normalise,
    /// From 1 for the first of the moves by descending value to 0 for the last, in equal steps.
    Linear,
}

impl Scaling {
    /// Both.
    pub const ALL: [Scaling; 2] = [Scaling::Normalise, Scaling::Linear];

    /// The name in pipelines.
    pub fn name(self) -> &'static str {
        match self {
            Scaling::Normalise => "normalise",
            Scaling::Linear => "linear",
        }
    }

    /// The scaling of this name.
    pub fn of_name(name: &str) -> Option<Scaling> {
        Scaling::ALL.into_iter().find(|scaling| scaling.name() == name)
    }
}

impl Values {
    /// 1 less the share of the other moves that are worth more than the one at this place; 1 for an only move.
    pub(crate) fn rank(&self, at: usize) -> f64 {
        let better = self.iter().filter(|(_, win)| *win > self.win(at)).count();
        1. - share(better, self.len() - 1)
    }

    /// The reward of the move at this place.
    pub(crate) fn scaled(&self, at: usize, scaling: Scaling, cut: f64) -> f64 {
        let (worst, best) = (self.worst().1, self.best().1);
        let scaled = match scaling {
            Scaling::Normalise if best == worst => 1.,
            Scaling::Normalise => (self.win(at) - worst) / (best - worst),
            Scaling::Linear => {
                let is_before = |other: &usize| {
                    self.win(*other) > self.win(at) || (self.win(*other) == self.win(at) && *other < at)
                };
                1. - share((0..self.len()).filter(is_before).count(), self.len() - 1)
            }
        };
        if scaled < cut { 0. } else { scaled }
    }
}

/// `part` of `whole`; 0 of nothing.
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0. } else { part as f64 / whole as f64 }
}
