//! The choice of the first moves that are explained, and the limits of the searches for their lines.

use shakmaty::Move;

use crate::draws::RandomChoices;
use crate::search::ScoredMove;

/// The kind of first moves that are explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GuidedMode {
    /// The best, if its line gains something.
    Good,
    /// One of the good ones.
    Reasonable,
    /// One after which much changes.
    Blunder,
}

/// The limits of the searches for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuidedSearch {
    /// The depth at which first moves are compared.
    pub first_depth: u32,
    /// The most first moves that are compared.
    pub first_moves: usize,
    /// The plies of a line.
    pub plies: usize,
    /// The depth before each own move after the first.
    pub own_depth: u32,
    /// The depth before each move of the opponent.
    pub opponent_depth: u32,
}

impl GuidedMode {
    /// All three.
    pub const ALL: [GuidedMode; 3] = [GuidedMode::Good, GuidedMode::Reasonable, GuidedMode::Blunder];

    /// The name in pipelines.
    pub fn name(self) -> &'static str {
        match self {
            GuidedMode::Good => "good",
            GuidedMode::Reasonable => "reasonable",
            GuidedMode::Blunder => "blunder",
        }
    }

    /// The mode of this name.
    pub fn of_name(name: &str) -> Option<GuidedMode> {
        GuidedMode::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// The limits of its searches.
    pub fn search(self) -> GuidedSearch {
        let (first_depth, first_moves, plies, own_depth, opponent_depth) = match self {
            GuidedMode::Good => (12, 1, 7, 12, 7),
            GuidedMode::Reasonable => (12, 5, 5, 5, 1),
            GuidedMode::Blunder => (10, 40, 4, 10, 10),
        };
        GuidedSearch { first_depth, first_moves, plies, own_depth, opponent_depth }
    }

    /// The first moves to try, in order, of the best legal moves with their values: the first whose line is kept is explained.
    pub fn first_moves(self, lines: &[ScoredMove], draws: &mut RandomChoices) -> Vec<Move> {
        let mut lines = lines.to_vec();
        lines.sort_by_key(|line| std::cmp::Reverse(line.centipawns));
        lines.truncate(self.search().first_moves);
        let weights = |temperature: f64, from: i32| -> Vec<f64> {
            let weight = |line: &ScoredMove| (f64::from(line.centipawns - from) / temperature).exp();
            lines.iter().map(weight).collect()
        };
        let (Some(best), Some(worst)) = (lines.first(), lines.last()) else { return Vec::new() };
        let order = match self {
            GuidedMode::Good => vec![0],
            GuidedMode::Reasonable => {
                let mut weights = weights(50., best.centipawns);
                for (weight, _) in weights.iter_mut().zip(&lines).filter(|(_, line)| line.centipawns < -50) {
                    *weight = 0.;
                }
                draws.weighted(&weights).into_iter().collect()
            }
            GuidedMode::Blunder => {
                let mut weights = weights(-500., worst.centipawns);
                let mut order = Vec::with_capacity(lines.len());
                while let Some(next) = draws.weighted(&weights) {
                    weights[next] = 0.;
                    order.push(next);
                }
                order
            }
        };
        order.into_iter().map(|at| lines[at].played).collect()
    }

    /// Returns true if a line that gains so many centipawns for the side that begins it is explained.
    pub fn keeps(self, gained: i32) -> bool {
        match self {
            GuidedMode::Good => gained >= 50,
            GuidedMode::Reasonable => true,
            GuidedMode::Blunder => gained.abs() >= 200,
        }
    }
}
