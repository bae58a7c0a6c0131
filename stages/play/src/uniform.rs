//! Random play: every legal move equally likely, to the end of the game.

use cwm_random::Random;

use crate::random_game::{self, RandomGame};

/// Plays one game: one draw for each ply, also where there is only one legal move, until mate or the first draw that
/// can be claimed.
pub fn game(random: &mut impl Random) -> RandomGame {
    random_game::play(random, None, |_, moves, random| moves[random.below(moves.len() as u32) as usize])
}

#[cfg(test)]
mod tests {
    use cwm_game::Ending;
    use cwm_random::MersenneTwister;
    use shakmaty::{Move, Role};

    use super::*;
    use crate::golden;
    use crate::seed::Seed;

    /// The move as the authors number it: (from * 64 + to) * 5 + promotion, castling as the king's move.
    fn token(m: Move) -> u16 {
        let from = m.from().unwrap();
        let to =
            m.castling_side().map_or(m.to(), |side| shakmaty::Square::from_coords(side.king_to_file(), from.rank()));
        let promotion = match m.promotion() {
            None => 0,
            Some(Role::Queen) => 1,
            Some(Role::Rook) => 2,
            Some(Role::Bishop) => 3,
            Some(_) => 4,
        };
        (from.to_u32() as u16 * 64 + to.to_u32() as u16) * 5 + promotion
    }

    #[test]
    fn the_authors_games_come_out_move_for_move() {
        let Some(golden) = golden::random_games() else { return };
        assert_eq!(golden.len(), 200);
        let mut random = MersenneTwister::new(&Seed::parse("0").unwrap().to_words());
        for expected in golden {
            let played = game(&mut random);
            let tokens: Vec<u16> = std::iter::once(20_480).chain(played.moves.iter().map(|&m| token(m))).collect();
            assert_eq!(tokens, expected.tokens, "{}", expected.id);
            assert_eq!(played.result, expected.result, "{}", expected.id);
            let termination = match played.ending {
                Some(Ending::Checkmate) => "CHECKMATE",
                Some(Ending::InsufficientMaterial) => "INSUFFICIENT_MATERIAL",
                Some(Ending::Stalemate) => "STALEMATE",
                Some(Ending::FiftyMoves) => "FIFTY_MOVES",
                Some(Ending::Threefold) => "THREEFOLD_REPETITION",
                None => "none",
            };
            assert_eq!(termination, expected.termination, "{}", expected.id);
        }
    }

    /// The totals of the authors' program for seed 7 (`golden/README.md` §7).
    #[test]
    fn another_seed_gives_as_many_plies_as_the_authors_counted() {
        let mut random = MersenneTwister::new(&Seed::parse("7").unwrap().to_words());
        assert_eq!((0..200).map(|_| game(&mut random).moves.len()).sum::<usize>(), 66_114);
    }
}
