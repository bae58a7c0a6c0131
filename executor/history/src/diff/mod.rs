//! The differences of two runs: cell by cell of the pipeline, by their lock files (`locks`), and cell by cell of the tables, by
//! their reports (`tables`). Nothing here depends on where the two come from.

mod locks;
mod row_names;
mod table_file;
mod tables;
mod text;

pub use locks::{LockDifference, differ};
pub use table_file::TableFile;
pub use tables::{ReportDifference, compare};
