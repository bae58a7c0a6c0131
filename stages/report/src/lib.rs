//! The `report` stage: the paper's tables and figures for what was run, however partial, beside the paper's numbers.
//!
//! `read` turns input files into plain values, `results` gathers runs of one model, `tables` and `figures` (a file
//! for each of the paper's) say what is shown, `table` and `figure` know how to draw any table or chart, and `page`
//! puts them on one self-contained page. This crate knows no chess and computes no metric: numbers come from `bins`.

mod boards;
mod config;
mod contents;
mod errors;
mod figure;
mod figures;
mod model;
mod number;
mod page;
mod paper;
mod plain_text;
mod read;
mod results;
mod run;
mod settings;
mod spread;
#[cfg(test)]
mod synthetic;
mod table;
mod tables;
mod test_set;
#[cfg(test)]
mod tests;
mod training;

pub use config::Config;
pub use run::Report;
