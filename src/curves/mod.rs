//! Curves that stages write while they run, for people who watch: they are read while they grow, and shown in a terminal or
//! written for TensorBoard and other programs.
//!
//! An inspector reads their lines (`cwm_contract::Inspector`). They grow in `Context::checkpoint_dir` of their stage. No stage
//! reads anything from here, and nothing here enters a key.

mod cell_curves;
mod curve_folder;
mod metrics_file;
mod tensorboard_file;

pub use cell_curves::CellCurves;
pub use curve_folder::CurveFolder;
