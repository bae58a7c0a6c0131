//! Names, shapes and counts of the parameters of many models.

use std::collections::BTreeMap;

use cwm_contract::Quantity;
use cwm_models::heads::labels;
use serde::Deserialize;

use super::error_stats::{ErrorStats, Tolerance};
use super::fixture::subject::{self, Shapes, SubjectHints};

/// Prefix of the names of variants that the paper does not use.
const VARIANT: &str = "ALT_";

#[derive(Deserialize)]
struct ParameterCount {
    param_count: u64,
    params: Vec<Parameter>,
}

#[derive(Deserialize)]
struct Parameter {
    name: String,
    shape: Vec<usize>,
}

/// Compares `param-counts.json`: the number of parameters of each model, and their names and shapes.
///
/// # Errors
/// It is not such a file, or a model of the paper is none that we have.
pub fn compare(text: &[u8], notes: &mut Vec<String>) -> Result<Vec<Quantity>, String> {
    let written: BTreeMap<String, ParameterCount> = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let mut quantities = Vec::new();
    for (key, written) in written {
        let shapes: Shapes = written.params.into_iter().map(|parameter| (parameter.name, parameter.shape)).collect();
        let ours = match ours(&key, &shapes) {
            Ok(ours) => ours,
            Err(why) if key.starts_with(VARIANT) => {
                notes.push(format!("`{key}` is left out: no model of ours ({why})"));
                continue;
            }
            Err(why) => return Err(format!("`{key}`: {why}")),
        };
        let expected = written.param_count as f64;
        quantities.extend(ErrorStats::one(&key, ours as f64, expected, Tolerance::exact(expected)));
    }
    Ok(quantities)
}

/// Counts the parameters of our model with these names and shapes.
fn ours(key: &str, shapes: &Shapes) -> Result<u64, String> {
    let table = shapes.iter().find(|(name, _)| super::fixture::is_table(name));
    let vocabulary = table.and_then(|(_, shape)| shape.first().copied()).ok_or("it has no table of embeddings")?;
    // What is the same in every size of a family decides nothing about heads, and no other shape does.
    let (architecture, _) =
        subject::architecture(shapes, vocabulary, &SubjectHints { file: key, ..SubjectHints::default() })?;
    let network = labels::network(architecture).map_err(|error| error.to_string())?;
    let declared = network.layout().parameters().iter();
    let ours: Shapes = declared.map(|declared| (declared.name.clone(), declared.shape.clone())).collect();
    match subject::difference(&ours, shapes) {
        Some(difference) => Err(difference),
        None => Ok(network.layout().total() as u64),
    }
}
