//! The baseline that reads nothing: each square's most frequent class.

use super::SQUARES;

/// The number of times that each square has each class.
#[derive(Clone, Debug)]
pub struct Majority {
    classes: usize,
    counts: Vec<u64>,
}

impl Majority {
    /// Returns counts without rows.
    pub fn new(classes: usize) -> Self {
        Majority { classes, counts: vec![0; SQUARES * classes] }
    }

    /// Counts the classes of rows, `labels` [rows, 64].
    pub fn of(classes: usize, labels: &[u8]) -> Self {
        let mut majority = Majority::new(classes);
        majority.add(labels);
        majority
    }

    /// Counts the classes of more rows, `labels` [rows, 64].
    pub fn add(&mut self, labels: &[u8]) {
        for row in labels.chunks_exact(SQUARES) {
            for (square, &label) in row.iter().enumerate() {
                self.counts[square * self.classes + usize::from(label)] += 1;
            }
        }
    }

    /// The most frequent class of each square; of equals the first.
    pub fn board(&self) -> [u8; SQUARES] {
        std::array::from_fn(|square| {
            let counts = &self.counts[square * self.classes..(square + 1) * self.classes];
            let most = counts.iter().max().copied().unwrap_or(0);
            counts.iter().position(|count| *count == most).unwrap_or(0) as u8
        })
    }
}
