//! Choices of a player of a given strength.

use cwm_random::Random;
use cwm_search::Candidate;
use shakmaty::{ByColor, Move};

/// The lowest rating that players have.
const WEAKEST: u32 = 700;
/// The highest.
const STRONGEST: u32 = 2_400;

/// One of the two players of a game.
#[derive(Clone, Copy, Debug)]
pub struct Player {
    /// A nominal rating, 700 to 2400. It determines how the player chooses, and is not measured against anyone.
    pub rating: u32,
    /// A move that is worse than the best by so many centipawns is half as likely to be played as the best.
    pub tolerance: i32,
    /// Probability, in thousandths, that the player does not look at the opponent's answer.
    pub lapse_permille: u32,
    /// Probability, in thousandths a move, that the player gives up a game that looks hopeless.
    pub resign_permille: u32,
}

/// Two players of about equal rating. `temperature` is the tolerance of a player rated 1500.
pub fn pair(random: &mut impl Random, temperature: u32) -> ByColor<Player> {
    let span = (STRONGEST - WEAKEST) / 3;
    let rating = WEAKEST + (0..3).map(|_| random.below(span + 1)).sum::<u32>();
    let other = rating + random.below(241);
    let other = other.saturating_sub(120).clamp(WEAKEST, STRONGEST);
    ByColor { white: rating, black: other }.map(|rating| Player::new(rating, temperature))
}

impl Player {
    /// A player with this rating.
    pub fn new(rating: u32, temperature: u32) -> Self {
        let rating = rating.clamp(WEAKEST, STRONGEST);
        let weakness = STRONGEST - rating;
        Player {
            rating,
            // 1.8 times the temperature for the weakest, a tenth of it for the strongest.
            tolerance: (temperature * (100 + weakness) / 1_000).max(1) as i32,
            // 1 move in 2 to 1 move in 50.
            lapse_permille: 20 + weakness / 4,
            // The stronger the sooner.
            resign_permille: (rating - WEAKEST / 2) / 9,
        }
    }

    /// Returns how much worse than the best a move may be to be considered.
    pub fn margin(&self) -> i32 {
        4 * self.tolerance
    }

    /// One of `candidates` (the best first, at least one): the chance of each is halved with every `tolerance`
    /// centipawns that it is worse than the best.
    pub fn choose(&self, candidates: &[Candidate], random: &mut impl Random) -> Move {
        let best = candidates[0].value;
        let weight = |candidate: &Candidate| WEIGHTS[((best - candidate.value) * 8 / self.tolerance).min(63) as usize];
        let total: u32 = candidates.iter().map(weight).sum();
        let mut drawn = random.below(total);
        for candidate in candidates {
            let weight = weight(candidate);
            if drawn < weight {
                return candidate.chosen;
            }
            drawn -= weight;
        }
        candidates[0].chosen
    }
}

/// 65536 * 2^(-i/8), rounded down along the way: whole numbers, so that no machine's `exp` matters.
const WEIGHTS: [u32; 64] = {
    let mut weights = [65_536; 64];
    let mut i = 1;
    while i < 64 {
        // 2^(-1/8) = 60097 / 65536.
        weights[i] = (weights[i - 1] as u64 * 60_097 / 65_536) as u32;
        i += 1;
    }
    weights
};

#[cfg(test)]
mod tests {
    use cwm_game::StreamRng;
    use shakmaty::{Chess, Position};

    use super::*;

    #[test]
    fn a_move_worse_by_the_tolerance_is_half_as_likely() {
        assert!(WEIGHTS[8].abs_diff(32_768) < 10 && WEIGHTS[56].abs_diff(512) < 10, "{WEIGHTS:?}");
        let player = Player { rating: 1_500, tolerance: 40, lapse_permille: 0, resign_permille: 0 };
        let moves = Chess::new().legal_moves();
        let candidates = [(0, 100), (1, 60)].map(|(i, value)| Candidate { chosen: moves[i], value });
        let mut stream = StreamRng::new("test", "0", 0);
        let best = (0..9_000).filter(|_| player.choose(&candidates, &mut stream) == moves[0]).count();
        assert!((5_850..6_150).contains(&best), "{best} of 9000 instead of about 6000");
    }

    #[test]
    fn the_stronger_player_is_more_exact() {
        let (weak, strong) = (Player::new(800, 30), Player::new(2_400, 30));
        assert!(
            weak.tolerance > strong.tolerance
                && weak.lapse_permille > strong.lapse_permille
                && weak.resign_permille < strong.resign_permille
                && strong.tolerance > 0
        );
    }
}
