//! Which moves occur.

use cwm_encoding::START;

/// A set of move tokens.
pub struct Vocabulary(Vec<u64>);

impl Vocabulary {
    /// The empty set.
    pub fn new() -> Self {
        Vocabulary(vec![0; usize::from(START).div_ceil(64)])
    }

    /// Adds the token of a move.
    pub fn add(&mut self, token: u16) {
        self.0[usize::from(token / 64)] |= 1 << (token % 64);
    }

    /// How many different moves were added.
    pub fn len(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_counts_once() {
        let mut seen = Vocabulary::new();
        assert_eq!(seen.len(), 0);
        for token in [0, 63, 64, 64, START - 1, 0] {
            seen.add(token);
        }
        assert_eq!(seen.len(), 4);
    }
}
