//! Names, shapes and counts of the parameters of many models.

use std::collections::BTreeMap;

use cwm_contract::Quantity;
use cwm_models::Network;
use serde::Deserialize;

use super::fixture::subject::{self, Known, Shapes};
use super::gauge::{Allowed, Gauge};

/// What the names of variants begin with that the paper does not use.
const VARIANT: &str = "ALT_";

#[derive(Deserialize)]
struct Written {
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
    let written: BTreeMap<String, Written> = serde_json::from_slice(text).map_err(|error| error.to_string())?;
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
        quantities.extend(Gauge::one(&key, ours as f64, expected, Allowed::none(expected)));
    }
    Ok(quantities)
}

/// How many parameters our model with these names and shapes has.
fn ours(key: &str, shapes: &Shapes) -> Result<u64, String> {
    let table = shapes.iter().find(|(name, _)| super::fixture::is_table(name));
    let vocabulary = table.and_then(|(_, shape)| shape.first().copied()).ok_or("it has no table of embeddings")?;
    // What is the same in every size of a family decides nothing about heads, and no other shape does.
    let (architecture, _) = subject::architecture(shapes, vocabulary, &Known { file: key, ..Known::default() })?;
    let network = Network::build(architecture).map_err(|error| error.to_string())?;
    let declared = network.layout().declared().iter();
    let ours: Shapes = declared.map(|declared| (declared.name.clone(), declared.shape.clone())).collect();
    match subject::difference(&ours, shapes) {
        Some(difference) => Err(difference),
        None => Ok(network.layout().total() as u64),
    }
}
