//! Sequences that end in the same position.

use std::collections::BTreeMap;

use cwm_random::{MersenneTwister, Random};

use crate::sequences::Sequence;

/// The classes of at least two sequences, sorted by digest.
pub struct Classes {
    sequences: Vec<Sequence>,
    /// The place of the first member of each class, and the place after its last.
    bounds: Vec<(usize, usize)>,
    /// The number of positions, by the number of sequences that end in them.
    pub sizes: BTreeMap<u64, u64>,
}

impl Classes {
    /// Returns the classes of these sequences, which are sorted by position, game and ply.
    pub fn of(sequences: Vec<Sequence>) -> Self {
        let (mut bounds, mut sizes, mut first) = (Vec::new(), BTreeMap::new(), 0);
        for class in sequences.chunk_by(|one, next| one.position == next.position) {
            *sizes.entry(class.len() as u64).or_default() += 1;
            if class.len() > 1 {
                bounds.push((first, first + class.len()));
            }
            first += class.len();
        }
        Classes { sequences, bounds, sizes }
    }

    /// Number of classes.
    pub fn len(&self) -> usize {
        self.bounds.len()
    }

    /// Draws at most `most` classes, and returns the members of each, by game and ply.
    pub fn drawn(&self, most: usize, seed: u64) -> Vec<&[Sequence]> {
        let mut bounds = self.bounds.clone();
        if bounds.len() > most {
            let mut random = MersenneTwister::from_integer(u128::from(seed));
            // The first places of a shuffle from the front.
            for place in 0..most {
                let other = place + random.below((bounds.len() - place) as u32) as usize;
                bounds.swap(place, other);
            }
            bounds.truncate(most);
        }
        bounds.into_iter().map(|(first, end)| &self.sequences[first..end]).collect()
    }
}
