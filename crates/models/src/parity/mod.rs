//! Tests what no fixture of the authors' models shows: names, shapes and counts of all sizes, initial weights, places
//! of dropout and weight decay. `cwm model parity` (`crates/model-tools`) compares with fixtures.

mod dropout;
mod gated_deltanet;
mod mamba2;
mod mamba3;
mod slice;
mod transformer;

use std::collections::BTreeMap;

use cwm_contract::testing::shared;
use serde_json::Value;

use crate::heads::labels;
use crate::{Architecture, Network};

fn l2(values: &[f32]) -> f64 {
    values.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt()
}

/// A model of the four sizes, with the family's defaults.
fn sized(family: &str, size: &str) -> Network {
    labels::network(Architecture {
        family: family.into(),
        size: size.parse().unwrap(),
        vocabulary: 20482,
        dropout: 0.1,
        options: BTreeMap::new(),
    })
    .unwrap()
}

/// Names, shapes and counts of all four sizes, which param-counts.json has under `key`.
fn check_counts(family: &str, key: &str) {
    let Some(file) = shared("parity/param-counts.json") else { return };
    let counts: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    for size in ["d128/l1", "d256/l2", "d384/l4", "d512/l6"] {
        let network = sized(family, size);
        let expected = &counts[format!("{key}/{}", size.replace('/', "_"))];
        assert_eq!(network.layout().total() as u64, expected["param_count"].as_u64().unwrap(), "{size}");
        let shapes = |list: &Value| -> BTreeMap<String, Vec<u64>> {
            let parameters = list.as_array().unwrap().iter();
            let shape = |parameter: &Value| {
                parameter["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
            };
            parameters.map(|parameter| (parameter["name"].as_str().unwrap().to_owned(), shape(parameter))).collect()
        };
        let declared = network.layout().parameters().iter();
        let found: BTreeMap<String, Vec<u64>> = declared
            .map(|declared| (declared.name.clone(), declared.shape.iter().map(|&n| n as u64).collect()))
            .collect();
        assert_eq!(found, shapes(&expected["params"]), "{size}");
    }
}
