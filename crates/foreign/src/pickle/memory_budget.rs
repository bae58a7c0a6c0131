//! The memory budget of objects that are made of a pickle.

/// Bytes of names, paths, settings and tensors, at most: a hundred times what the largest checkpoints take.
pub const MAX_BUDGET: usize = 256 << 20;

/// The bytes that are left of it. A pickle may hold one thing any number of times at two bytes each; every copy takes
/// of this.
#[derive(Debug)]
pub struct MemoryBudget(usize);

/// Nothing is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it expands to more than any checkpoint: over {MAX_BUDGET} bytes of names and tensors")]
pub struct BudgetExceeded;

impl Default for MemoryBudget {
    fn default() -> Self {
        MemoryBudget(MAX_BUDGET)
    }
}

impl MemoryBudget {
    /// Takes so many bytes; to be called before they are made.
    ///
    /// # Errors
    /// So many are not left.
    pub fn take(&mut self, bytes: usize) -> Result<(), BudgetExceeded> {
        self.0 = self.0.checked_sub(bytes).ok_or(BudgetExceeded)?;
        Ok(())
    }
}
