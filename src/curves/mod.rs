//! Curves that stages write as they go, for people who watch: read while they grow, shown in a terminal or written for
//! TensorBoard and other programs.
//!
//! An inspector reads their lines (`cwm_contract::Inspector`); the folder in which they grow is agreed with the stages
//! (`Context::checkpoint_dir`). Nothing here is read by a stage or enters a key.

mod board;
mod event_file;
mod follow;
mod metrics_file;
mod tail;

pub use board::TensorBoardWriter;
pub use follow::{Curve, curves_of};
pub use tail::Tail;
