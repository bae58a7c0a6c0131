//! Python's pickles, read without executing anything.
//!
//! A pickle is a program for a small stack machine. This one builds what the program describes as plain data: calls and
//! objects stay descriptions ([`Node::Call`]) whose callable is a name. What they mean is for the caller to decide.

mod input;
mod machine;
mod memory_budget;
mod node;

pub use input::Input;
pub use machine::unpickle;
pub use memory_budget::{BudgetExceeded, MemoryBudget};
pub use node::{Handle, Node, Nodes};

/// A pickle that cannot be read, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}, at byte {at} of the pickle")]
pub struct PickleError {
    /// Bytes before it.
    pub at: u64,
    /// The error.
    pub what: String,
}

/// Bytes of a name, at most: of a class, a tensor, a storage, a setting.
pub const MAX_NAME_BYTES: usize = 4 << 10;
/// Bytes of a pickle, at most: a hundred times what the largest state of an optimiser takes.
const MAX_PICKLE_BYTES: u64 = 64 << 20;
/// Things that a pickle may build, at most.
const MAX_NODES: usize = 1 << 21;
/// Instructions of a pickle, at most.
const MAX_STEPS: u64 = 1 << 24;
