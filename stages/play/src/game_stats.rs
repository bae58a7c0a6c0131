//! Counts of the games that were played.

use shakmaty::{CastlingSide, Move, Role};

/// Counts over games.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameStats {
    /// Games.
    pub games: u64,
    /// Their moves.
    pub plies: u64,
    /// Captures, en passant ones among them.
    pub captures: u64,
    /// Captures en passant.
    pub en_passant: u64,
    /// Castlings on the king's side and on the queen's.
    pub castlings: [u64; 2],
    /// Promotions to a queen, a rook, a bishop, a knight.
    pub promotions: [u64; 4],
    /// Games that ended in mate.
    pub mates: u64,
    /// Games that were drawn.
    pub draws: u64,
    /// Games that were broken off.
    pub unfinished: u64,
}

impl GameStats {
    /// Counts one game.
    pub fn of(moves: &[Move], result: &str, mated: bool) -> Self {
        let mut stats = GameStats {
            games: 1,
            plies: moves.len() as u64,
            mates: mated.into(),
            draws: (result == "1/2-1/2").into(),
            unfinished: (result == "*").into(),
            ..GameStats::default()
        };
        for m in moves {
            stats.captures += u64::from(m.is_capture());
            stats.en_passant += u64::from(m.is_en_passant());
            match m.castling_side() {
                Some(CastlingSide::KingSide) => stats.castlings[0] += 1,
                Some(CastlingSide::QueenSide) => stats.castlings[1] += 1,
                None => {}
            }
            let place = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];
            if let Some(place) = place.iter().position(|role| m.promotion() == Some(*role)) {
                stats.promotions[place] += 1;
            }
        }
        stats
    }

    /// Adds the counts of other games.
    pub fn add(&mut self, other: &GameStats) {
        let GameStats { games, plies, captures, en_passant, castlings, promotions, mates, draws, unfinished } = other;
        self.games += games;
        self.plies += plies;
        self.captures += captures;
        self.en_passant += en_passant;
        self.castlings.iter_mut().zip(castlings).for_each(|(sum, more)| *sum += more);
        self.promotions.iter_mut().zip(promotions).for_each(|(sum, more)| *sum += more);
        self.mates += mates;
        self.draws += draws;
        self.unfinished += unfinished;
    }

    /// Names and values of the stage's metrics: the games, and means over them.
    pub fn metrics(&self) -> [(&'static str, f64); 9] {
        let mean = |count: u64| count as f64 / self.games as f64;
        [
            ("games", self.games as f64),
            ("plies_per_game", mean(self.plies)),
            ("captures_per_game", mean(self.captures)),
            ("en_passant_per_game", mean(self.en_passant)),
            ("castlings_per_game", mean(self.castlings.iter().sum())),
            ("promotions_per_game", mean(self.promotions.iter().sum())),
            ("mates", mean(self.mates)),
            ("draws", mean(self.draws)),
            ("unfinished", mean(self.unfinished)),
        ]
    }

    /// The `counts` file (docs/formats.md): one JSON object, its keys sorted, and a line end.
    pub fn json(&self, policy: &str) -> String {
        let [king_side, queen_side] = self.castlings;
        let [queen, rook, bishop, knight] = self.promotions;
        let counts = serde_json::json!({
            "stage": "play",
            "policy": policy,
            "games": self.games,
            "plies": self.plies,
            "captures": self.captures,
            "en_passant": self.en_passant,
            "castlings": { "king_side": king_side, "queen_side": queen_side },
            "promotions": { "queen": queen, "rook": rook, "bishop": bishop, "knight": knight },
            "mates": self.mates,
            "draws": self.draws,
            "unfinished": self.unfinished,
        });
        format!("{counts}\n")
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::san::San;
    use shakmaty::{Chess, Position};

    use super::*;

    fn played(sans: &str) -> Vec<Move> {
        let mut position = Chess::new();
        let play = |san: &str| {
            let m = san.parse::<San>().unwrap().to_move(&position).unwrap();
            position.play_unchecked(m);
            m
        };
        sans.split(' ').map(play).collect()
    }

    #[test]
    fn every_kind_of_move_is_counted() {
        let moves = played(
            "e4 Nf6 e5 d5 exd6 Nc6 dxc7 Bf5 cxd8=N Rxd8 Nf3 e6 Be2 Bd6 O-O O-O d4 a5 d5 a4 dxc6 a3 cxb7 axb2 b8=Q bxa1=R",
        );
        let mut stats = GameStats::of(&moves, "*", false);
        let expected = GameStats {
            games: 1,
            plies: 26,
            captures: 8,
            en_passant: 1,
            castlings: [2, 0],
            promotions: [1, 1, 0, 1],
            unfinished: 1,
            ..GameStats::default()
        };
        assert_eq!(stats, expected);
        stats.add(&GameStats::of(&played("f3 e5 g4 Qh4"), "0-1", true));
        assert_eq!((stats.games, stats.plies, stats.mates, stats.draws, stats.unfinished), (2, 30, 1, 0, 1));
        assert_eq!(stats.metrics()[1], ("plies_per_game", 15.0));
        assert_eq!(
            stats.json("quiet"),
            "{\"captures\":8,\"castlings\":{\"king_side\":2,\"queen_side\":0},\"draws\":0,\"en_passant\":1,\"games\":2,\
             \"mates\":1,\"plies\":30,\"policy\":\"quiet\",\"promotions\":{\"bishop\":0,\"knight\":1,\"queen\":1,\
             \"rook\":1},\"stage\":\"play\",\"unfinished\":1}\n"
        );
    }
}
