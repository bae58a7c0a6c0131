//! The account of the positions: the output `counts`.

use std::collections::BTreeMap;

use cwm_contract::{Context, Failure};
use serde_json::json;

/// A reason for which no move is chosen in a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The position has more legal moves than a prompt has room for.
    LegalMoves,
    /// Its game has more plies before it than a model of the form `moves` reads.
    Moves,
    /// Its game has more text before it than a model of the form `characters` reads, with room for an answer.
    Characters,
}

impl Reason {
    const ALL: [Reason; 3] = [Reason::LegalMoves, Reason::Moves, Reason::Characters];

    fn name(self) -> &'static str {
        match self {
            Reason::LegalMoves => "legal_moves",
            Reason::Moves => "moves_context",
            Reason::Characters => "characters_context",
        }
    }
}

/// Counts positions.
#[derive(Debug, Default)]
pub struct Counts {
    /// Positions in which a move was chosen.
    pub positions: u64,
    dropped: BTreeMap<Reason, u64>,
}

impl Counts {
    /// Counts a position that is dropped.
    pub fn exclude(&mut self, reason: Reason) {
        *self.dropped.entry(reason).or_default() += 1;
    }

    /// Positions so far, with those that were dropped.
    pub fn read(&self) -> u64 {
        self.positions + self.dropped.values().sum::<u64>()
    }

    /// Writes `counts`.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn write(&self, context: &Context) -> Result<(), Failure> {
        let of = |reason: Reason| (reason.name(), self.dropped.get(&reason).copied().unwrap_or(0));
        let dropped = BTreeMap::from(Reason::ALL.map(of));
        let counts = json!({ "dropped": dropped, "positions": self.positions, "stage": "choose" });
        Ok(fs_err::write(context.output("counts")?, format!("{counts}\n"))?)
    }
}
