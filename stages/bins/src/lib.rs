//! The `bins` stage: metrics over all positions and per prefix bin with their intervals, and which labels go wrong, as
//! SQL over the scores.
//!
//! The queries are the files in `sql/`; the code around them opens one scores file at a time, draws its games anew for
//! the intervals, names its rows and writes three small Parquet files. This crate depends on neither chess nor models: a
//! score is a row of numbers, and which of them are metrics is a table in `cwm-scores`.

mod bootstrap;
mod config;
mod identity;
mod output;
mod probe;
mod query;
mod run;
mod scores_file;
#[cfg(test)]
mod synthetic;
#[cfg(test)]
mod tests;
mod training;

pub use config::Config;
pub use run::Bins;
