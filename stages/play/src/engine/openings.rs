//! Openings: lines that people play, each about as often as they play it, so that openings repeat.

use cwm_contract::Failure;
use cwm_random::Random;
use shakmaty::san::San;
use shakmaty::{Chess, Move, Position};

/// The percentage of plies of the book at which the player leaves it.
const LEAVE_BOOK_PERCENT: u32 = 5;

/// The book, ready for use.
pub struct Openings(Vec<(u32, Vec<Move>)>);

impl Openings {
    /// Reads the lines.
    ///
    /// # Errors
    /// A line that is not legal: a mistake in this file, which its test would find.
    pub fn new() -> Result<Self, Failure> {
        let line = |&(weight, text): &(u32, &str)| {
            let mut position = Chess::new();
            let mut moves = Vec::new();
            for san in text.split_whitespace() {
                let m = san.parse::<San>().ok().and_then(|san| san.to_move(&position).ok());
                let m = m.ok_or_else(|| Failure::internal(format!("opening `{text}`: `{san}` is not legal")))?;
                position.play_unchecked(m);
                moves.push(m);
            }
            Ok((weight, moves))
        };
        LINES.iter().map(line).collect::<Result<_, Failure>>().map(Openings)
    }

    /// Chooses a move of the book after `played`; none when the book ends here or the player leaves it.
    pub fn choose(&self, played: &[Move], random: &mut impl Random) -> Option<Move> {
        let fitting = || self.0.iter().filter(|(_, line)| line.starts_with(played));
        let total: u32 = fitting().map(|(weight, _)| weight).sum();
        if total == 0 || random.below(100) < LEAVE_BOOK_PERCENT {
            return None;
        }
        let mut drawn = random.below(total);
        for (weight, line) in fitting() {
            if drawn < *weight {
                return line.get(played.len()).copied();
            }
            drawn -= weight;
        }
        None
    }
}

/// Lines and how often each is played, in arbitrary units. A line that is the beginning of another stands for those
/// who leave the book there.
const LINES: &[(u32, &str)] = &[
    // 1. e4 e5
    (26, "e4 e5 Nf3 Nc6 Bc4 Bc5 c3 Nf6 d3 d6"),
    (10, "e4 e5 Nf3 Nc6 Bc4 Bc5 O-O Nf6"),
    (7, "e4 e5 Nf3 Nc6 Bc4 Bc5 b4 Bxb4 c3 Ba5"),
    (12, "e4 e5 Nf3 Nc6 Bc4 Nf6 Ng5 d5 exd5 Na5"),
    (8, "e4 e5 Nf3 Nc6 Bc4 Nf6 d3 Be7 O-O O-O"),
    (6, "e4 e5 Nf3 Nc6 Bc4 h6"),
    (14, "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7"),
    (7, "e4 e5 Nf3 Nc6 Bb5 a6 Bxc6 dxc6"),
    (6, "e4 e5 Nf3 Nc6 Bb5 Nf6 O-O Nxe4 d4 Nd6"),
    (5, "e4 e5 Nf3 Nc6 Bb5 d6"),
    (13, "e4 e5 Nf3 Nc6 d4 exd4 Nxd4 Nf6 Nxc6 bxc6"),
    (6, "e4 e5 Nf3 Nc6 d4 exd4 Nxd4 Bc5 Be3 Qf6"),
    (6, "e4 e5 Nf3 Nc6 d4 exd4 Bc4 Nf6"),
    (7, "e4 e5 Nf3 Nc6 Nc3 Nf6 Bb5 Bb4"),
    (11, "e4 e5 Nf3 Nf6 Nxe5 d6 Nf3 Nxe4 d4 d5"),
    (5, "e4 e5 Nf3 Nf6 Nc3 Nc6"),
    (14, "e4 e5 Nf3 d6 d4 exd4 Nxd4 Nf6 Nc3 Be7"),
    (9, "e4 e5 Nf3 d6 Bc4 Be7"),
    (7, "e4 e5 Bc4 Nf6 d3 Bc5"),
    (6, "e4 e5 Bc4 Nc6 Qf3 Nf6"),
    (5, "e4 e5 Qh5 Nc6 Bc4 g6 Qf3 Nf6"),
    (9, "e4 e5 f4 exf4 Nf3 g5"),
    (5, "e4 e5 f4 d5 exd5 e4"),
    (8, "e4 e5 Nc3 Nf6 f4 d5"),
    (7, "e4 e5 d4 exd4 Qxd4 Nc6 Qe3"),
    (4, "e4 e5 d4 exd4 c3 dxc3 Bc4"),
    // 1. e4, other answers
    (13, "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6"),
    (6, "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 g6"),
    (10, "e4 c5 Nf3 Nc6 d4 cxd4 Nxd4 Nf6 Nc3 e5"),
    (6, "e4 c5 Nf3 Nc6 d4 cxd4 Nxd4 g6"),
    (6, "e4 c5 Nf3 Nc6 Bb5 g6 O-O Bg7"),
    (8, "e4 c5 Nf3 e6 d4 cxd4 Nxd4 a6"),
    (10, "e4 c5 Bc4 e6 Nf3 Nc6"),
    (8, "e4 c5 c3 d5 exd5 Qxd5 d4 Nf6"),
    (7, "e4 c5 Nc3 Nc6 f4 g6 Nf3 Bg7"),
    (7, "e4 c5 d4 cxd4 c3 dxc3 Nxc3 Nc6"),
    (12, "e4 e6 d4 d5 e5 c5 c3 Nc6 Nf3 Qb6"),
    (9, "e4 e6 d4 d5 exd5 exd5 Nf3 Nf6"),
    (6, "e4 e6 d4 d5 Nc3 Nf6 Bg5 Be7"),
    (4, "e4 e6 d4 d5 Nd2 Nf6 e5 Nfd7"),
    (9, "e4 c6 d4 d5 e5 Bf5 Nf3 e6"),
    (7, "e4 c6 d4 d5 exd5 cxd5 Bd3 Nc6"),
    (5, "e4 c6 d4 d5 Nc3 dxe4 Nxe4 Bf5 Ng3 Bg6"),
    (12, "e4 d5 exd5 Qxd5 Nc3 Qa5 d4 Nf6 Nf3 c6"),
    (6, "e4 d5 exd5 Qxd5 Nc3 Qd8"),
    (6, "e4 d5 exd5 Nf6 d4 Nxd5"),
    (7, "e4 d6 d4 Nf6 Nc3 g6 f4 Bg7"),
    (6, "e4 g6 d4 Bg7 Nc3 d6"),
    (5, "e4 Nf6 e5 Nd5 d4 d6 Nf3 Bg4"),
    (4, "e4 Nc6 d4 d5 e5 Bf5"),
    (4, "e4 b6 d4 Bb7 Nc3 e6"),
    // 1. d4
    (15, "d4 d5 c4 e6 Nc3 Nf6 Bg5 Be7 e3 O-O"),
    (10, "d4 d5 c4 c6 Nf3 Nf6 Nc3 dxc4"),
    (9, "d4 d5 c4 dxc4 e3 Nf6 Bxc4 e6"),
    (17, "d4 d5 Bf4 Nf6 e3 e6 Nf3 c5 c3 Nc6"),
    (9, "d4 d5 Nf3 Nf6 Bf4 e6"),
    (6, "d4 d5 e4 dxe4 Nc3 Nf6 f3 exf3"),
    (6, "d4 d5 e3 Nf6 Bd3 c5 c3 Nc6"),
    (8, "d4 Nf6 c4 g6 Nc3 Bg7 e4 d6 Nf3 O-O"),
    (5, "d4 Nf6 c4 g6 Nc3 d5 cxd5 Nxd5"),
    (8, "d4 Nf6 c4 e6 Nc3 Bb4 e3 O-O"),
    (6, "d4 Nf6 c4 e6 Nf3 b6 g3 Bb7"),
    (4, "d4 Nf6 c4 c5 d5 e6 Nc3 exd5 cxd5 d6"),
    (9, "d4 Nf6 Bf4 g6 e3 Bg7 Nf3 O-O"),
    (5, "d4 Nf6 Nf3 e6 Bg5 Be7"),
    (5, "d4 f5 g3 Nf6 Bg2 g6"),
    (4, "d4 e5 dxe5 Nc6 Nf3 Qe7"),
    (5, "d4 g6 e4 Bg7 Nf3 d6"),
    // other first moves
    (9, "c4 e5 Nc3 Nf6 g3 d5 cxd5 Nxd5"),
    (6, "c4 Nf6 Nc3 e6 e4 d5"),
    (5, "c4 c5 Nf3 Nc6 Nc3 g6"),
    (10, "Nf3 d5 g3 Nf6 Bg2 e6 O-O Be7"),
    (6, "Nf3 Nf6 c4 g6 Nc3 Bg7"),
    (7, "e3 e5 d4 exd4 exd4 d5"),
    (7, "b3 e5 Bb2 Nc6 e3 d5"),
    (6, "f4 d5 Nf3 Nf6 e3 g6"),
    (4, "g3 d5 Bg2 e5 d3 Nf6"),
    (3, "d3 e5 Nf3 Nc6 g3 d5"),
    (3, "Nc3 d5 e4 d4 Nce2 e5"),
    (2, "b4 e5 Bb2 Bxb4 Bxe5 Nf6"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use cwm_game::StreamRng;

    use super::*;

    #[test]
    fn every_line_is_legal_and_stands_once() {
        let openings = Openings::new().unwrap();
        let distinct: BTreeSet<&str> = LINES.iter().map(|(_, line)| *line).collect();
        assert_eq!(distinct.len(), openings.0.len());
        assert!(openings.0.iter().all(|(weight, _)| *weight > 0));
    }

    #[test]
    fn the_book_is_followed_as_often_as_its_weights_say() {
        let openings = Openings::new().unwrap();
        let total: u32 = LINES.iter().map(|(weight, _)| weight).sum();
        let e4: u32 = LINES.iter().filter(|(_, line)| line.starts_with("e4")).map(|(weight, _)| weight).sum();
        let first = openings.0[0].1[0];
        let mut stream = StreamRng::new("test", "0", 0);
        let mut counts = [0u32; 2];
        for _ in 0..20_000 {
            if let Some(m) = openings.choose(&[], &mut stream) {
                counts[usize::from(m == first)] += 1;
            }
        }
        let (played, expected) =
            (f64::from(counts[1]) / f64::from(counts[0] + counts[1]), f64::from(e4) / f64::from(total));
        assert!((played - expected).abs() < 0.02, "{played} {expected}");
        let own = 20_000 - counts[0] - counts[1];
        assert!((800..1_200).contains(&own), "{own} of 20000 left the book at once");
    }
}
