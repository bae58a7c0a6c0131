//! Descriptions (`cwm show`) and exports (`cwm export`) of games, positions, datasets and models.
//!
//! It reads the files that stages write; no stage reads what it writes, and none uses it, so that it is in no stage's
//! fingerprint. It must not depend on pipelines or the store.

mod answers;
mod autoencoder;
mod choices;
mod counts;
mod example;
mod export;
mod fen;
mod findings;
mod format;
mod game_stats;
mod games;
mod inside_rows;
mod json;
mod matches;
mod models;
mod ordered;
mod pgn;
mod points;
mod positions;
mod probes;
mod sequences;

#[cfg(test)]
mod tests;

use std::path::Path;

pub use fen::fen;

use cwm_contract::{
    CurvePoint, DescribeOptions, Description, ExportFormat, ExportOptions, ExportTarget, Failure, Format, Inspector,
};
use serde::Serialize;
use serde_json::Value;

/// The inspector of chess.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChessInspector;

impl Inspector for ChessInspector {
    fn describe(&self, format: &Format, path: &Path, detail: DescribeOptions) -> Result<Option<Description>, Failure> {
        match format.as_str() {
            "games" => games::games(path, detail).map(Some),
            "dataset" => games::dataset(path, detail).map(Some),
            "evaluations" => positions::evaluations(path, detail).map(Some),
            "choices" => positions::choices(path, detail).map(Some),
            "sequences" => sequences::sequences(path).map(Some),
            "transpositions" => inside_rows::transpositions(path, detail).map(Some),
            "legality" => inside_rows::legality(path).map(Some),
            "matches" => matches::matches(path, detail).map(Some),
            "items" => answers::items(path, detail).map(Some),
            "answers" => answers::answers(path, detail).map(Some),
            "grades" => answers::grades(path).map(Some),
            "tallies" => answers::tallies(path).map(Some),
            "pgn" => pgn::pgn(path, detail).map(Some),
            "checkpoint" => models::checkpoint(path).map(Some),
            "curves" => models::curves(path).map(Some),
            "summary" => models::summary(path).map(Some),
            "autoencoder" => autoencoder::autoencoder(path).map(Some),
            "probes" => probes::probes(path).map(Some),
            "choice" => choices::choice(path).map(Some),
            "candidates" => choices::candidates(path).map(Some),
            "differences" => choices::differences(path).map(Some),
            "findings" => findings::findings(path).map(Some),
            "counts" => counts::counts(path).map(Some),
            _ => Ok(None),
        }
    }

    fn related_formats(&self, format: &Format) -> Vec<Format> {
        if [Format::GAMES, Format::DATASET].contains(format) { vec![Format::COUNTS] } else { Vec::new() }
    }

    fn export_format(&self, format: &Format, options: &ExportOptions) -> Result<ExportFormat, Failure> {
        export::export_format(format, options)
    }

    fn export_as(
        &self,
        format: &Format,
        path: &Path,
        options: &ExportOptions,
        target: ExportTarget<'_>,
    ) -> Result<(), Failure> {
        export::export_as(format, path, options, target)
    }

    fn has_points(&self, format: &Format) -> bool {
        *format == Format::CURVES
    }

    fn points(&self, format: &Format, line: &str) -> Result<Vec<CurvePoint>, Failure> {
        match self.has_points(format) {
            true => points::curves(line),
            false => Err(Failure::input(format!("{format} has no curves"))),
        }
    }
}

/// The facts of a description.
fn facts(summary: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(summary)
        .map_err(|error| Failure::internal(format!("facts cannot be written as JSON: {error}")))
}
