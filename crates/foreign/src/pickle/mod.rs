//! Python's pickles, read without executing anything.
//!
//! A pickle is a program for a small stack machine. This one builds what the program describes as plain data: calls and
//! objects stay descriptions ([`Node::Call`]) whose callable is a name. What they mean is for whoever reads them to say.

mod input;
mod machine;
mod node;
mod room;

pub use input::Input;
pub use machine::unpickle;
pub use node::{Handle, Node, Nodes};
pub use room::{Full, Room};

/// A pickle that cannot be read, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}, at byte {at} of the pickle")]
pub struct PickleFault {
    /// Bytes before it.
    pub at: u64,
    /// What is wrong.
    pub what: String,
}

/// Bytes of a name, at most: of a class, a tensor, a storage, a setting.
pub const LONGEST_NAME: usize = 4 << 10;
/// Bytes of a pickle, at most: a hundred times what the largest state of an optimiser takes.
const LONGEST: u64 = 64 << 20;
/// Things that a pickle may build, at most.
const MOST_NODES: usize = 1 << 21;
/// Instructions of a pickle, at most.
const MOST_STEPS: u64 = 1 << 24;
