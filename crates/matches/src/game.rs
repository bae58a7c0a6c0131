//! A game of a match.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A game and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Game {
    /// Its number, from 0: that of its row.
    pub game: u64,
    /// The number of its pair, from 0: games of a pair have the same opening.
    pub pair: u64,
    /// Id of the game whose first moves are the opening; empty for the initial position.
    pub opening: String,
    /// White's name: `model`, `other`, `random`, `level:3` (also where the level is drawn), `nodes:1000`.
    pub white: String,
    /// Black's name.
    pub black: String,
    /// True if the first player has White.
    pub first_white: bool,
    /// `1-0`, `0-1` or `1/2-1/2`.
    pub result: String,
    /// Score of the first player: 0, 0.5 or 1.
    pub score: f64,
    /// Number of moves, those of the opening included.
    pub plies: u32,
    /// The reason for its end.
    pub end: End,
    /// Answers of the models that were no legal move.
    pub illegal_attempts: u32,
    /// The level of the second player in this game, if it plays at one.
    pub level: Option<u8>,
    /// All moves, packed (see `PlainMove::packed` of cwm-encoding).
    pub moves: Vec<u16>,
}

/// The reason for the end of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The side to move is mated.
    Mate,
    /// The side to move has no move and is not in check: a draw.
    Stalemate,
    /// Neither side can mate: a draw.
    Material,
    /// A position occurred for the third time: a draw.
    Threefold,
    /// Fifty moves of each side without capture or pawn move: a draw.
    Fifty,
    /// The longest game that the match permits: a draw.
    MaxPlies,
    /// The game is longer than a model can read: a draw.
    Context,
    /// A model gave no legal move in as many attempts as it has: it loses.
    Attempts,
}

impl End {
    /// All of them.
    pub const ALL: [End; 8] = [
        End::Mate,
        End::Stalemate,
        End::Material,
        End::Threefold,
        End::Fifty,
        End::MaxPlies,
        End::Context,
        End::Attempts,
    ];

    /// The word for it in files.
    pub const fn word(self) -> &'static str {
        match self {
            End::Mate => "mate",
            End::Stalemate => "stalemate",
            End::Material => "material",
            End::Threefold => "threefold",
            End::Fifty => "fifty",
            End::MaxPlies => "max_plies",
            End::Context => "context",
            End::Attempts => "attempts",
        }
    }

    /// The end with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        End::ALL.into_iter().find(|end| end.word() == word)
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
