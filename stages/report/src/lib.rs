//! The `report` stage: papers' tables and figures for what was run, however partial, beside the papers' numbers.
//!
//! A paper is a folder under `papers`, with its tables, figures and facts and what it reads; the crate `cwm-page` defines
//! how to draw and write any of them. This crate computes no metric: numbers come from `bins` and other stages, and from the
//! crates `measures` and `rating`.

mod config;
mod papers;
mod run;
#[cfg(test)]
mod synthetic;
#[cfg(test)]
mod tests;

pub use config::Config;
pub use run::Report;
