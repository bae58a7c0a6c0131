//! Finds the positions that a model was trained on.

use std::collections::HashSet;
use std::path::Path;

use cwm_contract::{Context, Failure};
use cwm_evaluations::Evaluations;

/// The positions of the evaluations that are among those of the training too.
pub struct TrainingOverlap(HashSet<String>);

impl TrainingOverlap {
    /// Compares the evaluations with those of the training; `None` without these. Memory grows with the evaluations, and not
    /// with the training.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn of(context: &Context, evaluations: &Path) -> Result<Option<Self>, Failure> {
        let Some(train) = context.optional_input("train") else { return Ok(None) };
        context.activity("comparing with the training");
        let mut wanted = HashSet::new();
        for evaluation in Evaluations::open(evaluations)? {
            wanted.insert(position_of(&evaluation?.fen).to_owned());
        }
        let mut seen = HashSet::new();
        for evaluation in Evaluations::open(train)? {
            context.check_cancelled()?;
            seen.extend(wanted.take(position_of(&evaluation?.fen)));
        }
        Ok(Some(TrainingOverlap(seen)))
    }

    /// Returns true if the training has this position.
    pub fn has(&self, fen: &str) -> bool {
        self.0.contains(position_of(fen))
    }
}

/// The first four fields of a FEN: without the counts of moves.
fn position_of(fen: &str) -> &str {
    fen.match_indices(' ').nth(3).map_or(fen, |(end, _)| &fen[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_moves_are_no_part_of_a_position() {
        assert_eq!(position_of("8/8 w KQ e3 0 1"), "8/8 w KQ e3");
        assert_eq!(position_of("8/8 w KQ"), "8/8 w KQ");
    }
}
