//! The set of moves that occur.

use cwm_encoding::START;

/// A set of move tokens.
pub struct Vocabulary(Vec<u64>);

impl Default for Vocabulary {
    fn default() -> Self {
        Vocabulary(vec![0; usize::from(START).div_ceil(64)])
    }
}

impl Vocabulary {
    /// Adds the token of a move.
    pub fn add(&mut self, token: u16) {
        self.0[usize::from(token / 64)] |= 1 << (token % 64);
    }

    /// Adds all moves of another set.
    pub fn merge(&mut self, other: &Vocabulary) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }

    /// Returns the set: bit n % 8 of byte n / 8 is token n, the lowest bit being the first, in hexadecimal.
    pub fn hexadecimal(&self) -> String {
        self.0.iter().flat_map(|word| word.to_le_bytes()).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Returns the number of different moves that were added.
    pub fn len(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_counts_once() {
        let mut seen = Vocabulary::default();
        assert_eq!(seen.len(), 0);
        for token in [0, 63, 64, 64, START - 1, 0] {
            seen.add(token);
        }
        assert_eq!(seen.len(), 4);
        let text = seen.hexadecimal();
        assert_eq!(text.len(), 5120);
        assert_eq!((&text[..18], &text[5118..]), ("010000000000008001", "80"));
        let mut other = Vocabulary::default();
        other.add(63);
        other.add(65);
        seen.merge(&other);
        assert_eq!(seen.len(), 5);
    }
}
