//! Parameters by the authors' names: declared by a family, initialised from a seed, held in one array.
//!
//! A family declares what it needs ([`Scope`]) and gets a [`Slot`] for each; values live outside the model, in
//! [`Weights`]: one array of f32 in declaration order, in the authors' [out, in] layout. Optimiser, checkpoints and
//! global norm work on that array alone and depend on no family.

mod declare;
mod init;
mod weights;

pub use declare::{Declaration, Declarations, Parameter, Role, Scope, Slot};
pub use init::{Init, InitRng};
pub use weights::{Layout, Weights};
