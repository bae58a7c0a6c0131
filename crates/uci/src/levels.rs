//! The play of Stockfish at a level (`Skill Level`), with given random numbers in place of its own, which are seeded by
//! the clock: the same player, whose games can be repeated.
//!
//! It searches to depth 1 + level and takes, of its lines s₁ ≥ … ≥ s₄ in internal units, the last i that maximises
//! sᵢ + ⌊((120 - 2 level)(s₁ - sᵢ) + min(s₁ - s₄, pawn) (rᵢ mod (120 - 2 level))) / 128⌋.

use cwm_contract::Failure;
use cwm_evaluations::Score;

use crate::search::Limit;

/// An engine whose levels are known. The centipawns of others may not lead back to internal units.
#[derive(Debug, PartialEq, Eq)]
pub struct KnownEngine {
    /// Its name, as it identifies itself.
    pub name: &'static str,
    /// Internal units of 100 centipawns.
    pub units: i32,
    /// The value of a pawn in the middle game, in internal units: the most that the distance of the lines counts.
    pub pawn: i32,
}

/// The engines whose levels are known.
pub const KNOWN_ENGINES: &[KnownEngine] = &[KnownEngine { name: "Stockfish 15.1", units: 394, pawn: 126 }];

/// A level of an engine.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    number: u8,
    engine: &'static KnownEngine,
}

impl Level {
    /// The weakest level is 0. Level 20 is full strength, and no level.
    pub const STRONGEST: u8 = 19;

    /// The number of lines that the engine reports (`MultiPV`).
    pub const LINES: u32 = 4;

    /// The level of the engine of this name.
    ///
    /// # Errors
    /// The number is beyond [`Level::STRONGEST`], or the levels of this engine are not known.
    pub fn new(number: u8, engine: &str) -> Result<Self, Failure> {
        if number > Self::STRONGEST {
            return Err(Failure::input(format!("there is no level {number}; levels are 0 to {}", Self::STRONGEST)));
        }
        let Some(engine) = KNOWN_ENGINES.iter().find(|known| known.name == engine) else {
            let names: Vec<&str> = KNOWN_ENGINES.iter().map(|known| known.name).collect();
            return Err(Failure::input(format!("levels of the engine `{engine}` are not known"))
                .hint(format!("known are those of {}; any engine plays by a number of nodes", names.join(", "))));
        };
        Ok(Level { number, engine })
    }

    /// The limit of the engine's search at this level.
    pub fn limit(self) -> Limit {
        Limit::depth(1 + self.number)
    }

    /// Chooses a line: its index. `scores` are those of the lines, the best first; `draws` are as many uniform numbers, or
    /// more. Returns nothing if there is no line, or a number is missing.
    pub fn choose(self, scores: &[Score], draws: &[u32]) -> Option<usize> {
        let values: Vec<i64> = scores.iter().map(|score| self.value(*score)).collect();
        let (first, last) = (*values.first()?, *values.last()?);
        let weakness = 120 - 2 * i64::from(self.number);
        let distance = (first - last).min(self.engine.pawn.into());
        let push = |value: i64, draw: u32| {
            let chance = i64::from(draw) % weakness;
            value + (weakness * (first - value) + distance * chance).div_euclid(128)
        };
        let pushed = values.iter().zip(draws).map(|(value, draw)| push(*value, *draw));
        // The last of the greatest.
        let chosen = pushed.enumerate().max_by_key(|(_, value)| *value).map(|(index, _)| index);
        chosen.filter(|_| draws.len() >= scores.len())
    }

    /// The score in internal units. Centipawns are rounded, halves away from zero.
    fn value(self, score: Score) -> i64 {
        match score {
            Score::Centipawns(centipawns) => {
                let hundredfold = i64::from(centipawns) * i64::from(self.engine.units);
                (hundredfold + 50 * hundredfold.signum()) / 100
            }
            Score::Mate(moves) if moves > 0 => 32_000 - (2 * i64::from(moves) - 1),
            Score::Mate(moves) => -32_000 - 2 * i64::from(moves),
        }
    }
}
