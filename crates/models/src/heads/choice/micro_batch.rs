//! Sequences as inputs of a pass: tokens padded, with the rows that have a target.

use super::{NONE, Targets};
use crate::Tokens;

/// A few sequences that go through the model together.
#[derive(Clone, Debug)]
pub struct MicroBatch {
    /// The sequences, as places in the list that was cut.
    pub sequences: Vec<usize>,
    /// Their tokens.
    pub tokens: Tokens,
    /// The rows of the padded batch that have a target: logits are computed of these alone.
    pub rows: Vec<usize>,
    /// The right classes of these rows.
    pub targets: Targets,
}

impl MicroBatch {
    /// The sequences at the places `chosen` of `sequences`, each tokens and as many targets ([`NONE`] where there is none).
    /// `padding` fills what is shorter: any token, since it changes nothing.
    pub fn new(sequences: &[(&[u16], &[u16])], chosen: &[usize], padding: u32) -> Self {
        let tokens = Tokens::padded(chosen.iter().map(|&sequence| sequences[sequence].0), padding);
        let (mut rows, mut classes) = (Vec::new(), Vec::new());
        for (place, &sequence) in chosen.iter().enumerate() {
            let targets = sequences[sequence].1.iter().enumerate();
            for (t, &class) in targets.filter(|(_, class)| **class != NONE) {
                rows.push(place * tokens.time() + t);
                classes.push(class);
            }
        }
        MicroBatch { sequences: chosen.to_vec(), tokens, rows, targets: Targets::new(classes) }
    }

    /// Number of targets of each sequence.
    fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.sequences.len()];
        self.rows.iter().for_each(|&row| counts[row / self.tokens.time()] += 1);
        counts
    }

    /// Groups values by sequence; `by_row` has one for each row with a target, in their order.
    pub(super) fn by_sequence<T>(&self, by_row: impl IntoIterator<Item = T>) -> Vec<Vec<T>> {
        let mut by_row = by_row.into_iter();
        self.counts().into_iter().map(|count| by_row.by_ref().take(count).collect()).collect()
    }
}
