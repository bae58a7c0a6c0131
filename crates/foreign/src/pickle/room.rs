//! Room for what is made of a pickle beside what it holds itself.

/// Bytes of names, paths, settings and tensors, at most: a hundred times what the largest checkpoints take.
pub const MOST_MADE: usize = 256 << 20;

/// What is left of that. A pickle may hold one thing any number of times at two bytes each; every copy takes of this.
#[derive(Debug)]
pub struct Room(usize);

/// Nothing is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more is made of it than of any checkpoint: over {MOST_MADE} bytes of names and tensors")]
pub struct Full;

impl Default for Room {
    fn default() -> Self {
        Room(MOST_MADE)
    }
}

impl Room {
    /// Takes so many bytes; to be asked before they are made.
    ///
    /// # Errors
    /// So many are not left.
    pub fn take(&mut self, bytes: usize) -> Result<(), Full> {
        self.0 = self.0.checked_sub(bytes).ok_or(Full)?;
        Ok(())
    }
}
