//! The `bins` stage: metrics over all positions and per prefix bin, as SQL over the scores.
//!
//! The queries are the files in `sql/`; the code around them opens one scores file at a time, names its rows and
//! writes two small Parquet files. This crate knows no chess and no models: a score is a row of numbers.

mod config;
mod exact_sum;
mod exact_sum_function;
mod identity;
mod output;
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
