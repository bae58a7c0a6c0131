//! What people see of games, datasets and models: the descriptions of `cwm show` and the forms of `cwm export`.
//!
//! It reads the files that stages write; no stage reads what it writes, and none uses it, so that it is in no stage's
//! fingerprint. It must not know of pipelines or the store.

mod choices;
mod counts;
mod example;
mod expand;
mod fen;
mod games;
mod json;
mod models;
mod ordered;
mod pgn;
mod points;
mod tally;
mod words;

#[cfg(test)]
mod tests;

use std::path::Path;

pub use fen::fen;

use cwm_contract::{Description, Detail, Expansion, Failure, Form, Format, Inspector, Point, Target};
use serde::Serialize;
use serde_json::Value;

/// The inspector of chess.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inspect;

impl Inspector for Inspect {
    fn describe(&self, format: &Format, path: &Path, detail: Detail) -> Result<Option<Description>, Failure> {
        match format.as_str() {
            "games" => games::games(path, detail).map(Some),
            "dataset" => games::dataset(path, detail).map(Some),
            "pgn" => pgn::pgn(path, detail).map(Some),
            "checkpoint" => models::checkpoint(path).map(Some),
            "curves" => models::curves(path).map(Some),
            "summary" => models::summary(path).map(Some),
            "choice" => choices::choice(path).map(Some),
            "candidates" => choices::candidates(path).map(Some),
            "differences" => choices::differences(path).map(Some),
            "counts" => counts::counts(path).map(Some),
            _ => Ok(None),
        }
    }

    fn background(&self, format: &Format) -> Vec<Format> {
        if [Format::GAMES, Format::DATASET].contains(format) { vec![Format::COUNTS] } else { Vec::new() }
    }

    fn form(&self, format: &Format, wanted: &Expansion) -> Result<Form, Failure> {
        expand::form(format, wanted)
    }

    fn expand(&self, format: &Format, path: &Path, wanted: &Expansion, target: Target<'_>) -> Result<(), Failure> {
        expand::expand(format, path, wanted, target)
    }

    fn has_points(&self, format: &Format) -> bool {
        *format == Format::CURVES
    }

    fn points(&self, format: &Format, line: &str) -> Result<Vec<Point>, Failure> {
        match self.has_points(format) {
            true => points::curves(line),
            false => Err(Failure::input(format!("{format} has no curves"))),
        }
    }
}

/// The facts of a description.
fn facts(told: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(told).map_err(|error| Failure::internal(format!("facts cannot be written as JSON: {error}")))
}
