//! The judge itself: what the authors computed passes, and what is wrong in any way does not.

mod contradictory;
mod files;
mod golden;
mod inside_models;
mod planted;
mod spoiled;

use std::path::Path;

use cwm_contract::{Comparison, ModelTools, ParityRequest, Quantity};

use crate::ChessModelTools;

/// The comparisons of the files or folders at `paths`.
fn judge(paths: &[&Path], family: Option<&str>, options: &[(&str, &str)]) -> Vec<Comparison> {
    let request = ParityRequest {
        paths: paths.iter().map(|path| path.to_path_buf()).collect(),
        family: family.map(str::to_owned),
        options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        device: String::new(),
    };
    let mut comparisons = Vec::new();
    ChessModelTools.parity(&request, &mut |comparison| comparisons.push(comparison)).unwrap();
    comparisons
}

/// The one comparison of a file.
fn judge_file(path: &Path) -> Comparison {
    judge(&[path], None, &[]).pop().unwrap()
}

/// Names of the quantities that are further off than is allowed, or the error.
fn faults(comparison: &Comparison) -> Result<Vec<String>, String> {
    match &comparison.result {
        Ok(quantities) => {
            Ok(quantities.iter().filter(|q| q.worst.exceeds_tolerance()).map(|q| q.name.clone()).collect())
        }
        Err(failure) => Err(failure.message.clone()),
    }
}

fn worst(quantities: &[Quantity]) -> &Quantity {
    quantities.iter().max_by(|a, b| a.worst.of_tolerance.total_cmp(&b.worst.of_tolerance)).unwrap()
}
