//! The differences of two runs: cell by cell of the pipeline, by their lock files ([`locks`]), and cell by cell of the tables, by
//! their reports ([`tables`]). Nothing here knows where the two come from.

pub mod locks;
mod row_names;
pub mod table_file;
pub mod tables;
mod text;

pub use locks::{ChangedCell, LockDifference, NamedSource, differ};
pub use table_file::TableFile;
pub use tables::{ReportDifference, TableDifference, compare};
