//! The provenance in a page: without what repeats, and with digests as short as the page shows them. A sweep has
//! thousands of cells, and a page is to be sent by mail.

use std::collections::HashMap;

use super::{CellProvenance, Provenance};

/// Hexadecimal digits of keys and digests that the page shows, and that `cwm show` accepts.
const DIGITS: usize = 12;

/// Shortens the provenance. Parameters (and which of them the pipeline gives) that are the same in all cells of a stage move
/// into its entry of `stages`; the digest of an input is left out where its cell has it.
pub fn compact(mut provenance: Provenance) -> Provenance {
    // Nothing in the page looks up code.
    provenance.code = None;
    for cell in provenance.cells.values_mut() {
        cell.key.truncate(DIGITS);
        cell.outputs.values_mut().for_each(|output| output.digest.truncate(DIGITS));
        for input in cell.inputs.values_mut().flatten() {
            // The cell that made it has its digest.
            input.digest.take_if(|_| input.cell.is_some());
            input.digest.iter_mut().for_each(|digest| digest.truncate(DIGITS));
        }
    }
    let mut cells: HashMap<&str, Vec<&mut CellProvenance>> = HashMap::new();
    for (label, cell) in &mut provenance.cells {
        cells.entry(label.split('[').next().unwrap_or_default()).or_default().push(cell);
    }
    for stage in &mut provenance.stages {
        let Some(mut cells) = cells.remove(stage.name.as_str()) else { continue };
        let (mut parameters, mut explicit) = (cells[0].parameters.clone(), cells[0].explicit.clone());
        for cell in &cells {
            parameters.retain(|name, value| cell.parameters.get(name) == Some(&*value));
            explicit.retain(|name| cell.explicit.contains(name));
        }
        for cell in &mut cells {
            cell.parameters.retain(|name, _| !parameters.contains_key(name));
            cell.explicit.retain(|name| !explicit.contains(name));
        }
        (stage.parameters, stage.explicit) = (Some(parameters), Some(explicit));
    }
    provenance
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use cwm_contract::Value;
    use serde_json::{Value as Json, json};

    use super::super::{InputProvenance, OutputProvenance, StageTotals};
    use super::*;

    fn cell(
        parameters: impl IntoIterator<Item = (String, Value)>,
        inputs: BTreeMap<String, Vec<InputProvenance>>,
    ) -> CellProvenance {
        let output = OutputProvenance { format: "curves".into(), digest: "cd".repeat(32), size: 9 };
        CellProvenance {
            key: "ab".repeat(32),
            parameters: parameters.into_iter().collect(),
            explicit: vec!["lr".into(), "seed".into()],
            inputs,
            outputs: BTreeMap::from([("curves".into(), output)]),
            ..CellProvenance::default()
        }
    }

    fn numbers(parameters: &[(&str, i128)]) -> Vec<(String, Value)> {
        parameters.iter().map(|(name, value)| ((*name).to_owned(), Value::Int(*value))).collect()
    }

    fn input(cell: &str, output: &str, digest: &str) -> InputProvenance {
        let (cell, output) = (Some(cell.to_owned()), Some(output.to_owned()));
        InputProvenance { cell, output, digest: Some(digest.repeat(32)), ..InputProvenance::default() }
    }

    fn provenance(stages: &[&str], cells: impl IntoIterator<Item = (String, CellProvenance)>) -> Provenance {
        let stage = |name: &&str| StageTotals { name: (*name).to_owned(), ..StageTotals::default() };
        Provenance {
            code: Some(BTreeMap::new()),
            stages: stages.iter().map(stage).collect(),
            cells: cells.into_iter().collect(),
            ..Provenance::default()
        }
    }

    fn json(provenance: &Provenance) -> Json {
        serde_json::to_value(provenance).unwrap()
    }

    #[test]
    fn what_all_cells_of_a_stage_share_stands_once() {
        let file =
            InputProvenance { file: Some("x.pgn".into()), digest: Some("01".repeat(32)), ..InputProvenance::default() };
        let lost = InputProvenance { digest: None, ..input("lost", "curves", "") };
        let read = vec![input("m[lr=1]", "curves", "cd"), lost, file];
        let whole = provenance(
            &["m", "bins"],
            [
                ("bins".into(), cell(numbers(&[("width", 5)]), BTreeMap::from([("a".into(), read)]))),
                ("m[lr=1]".into(), cell(numbers(&[("lr", 1), ("clip", 7), ("seed", 0)]), BTreeMap::new())),
                ("m[lr=2]".into(), cell(numbers(&[("lr", 2), ("clip", 7), ("seed", 0)]), BTreeMap::new())),
            ],
        );
        assert!(json(&whole)["code"].is_object() && json(&whole)["stages"][0].get("explicit").is_none());
        let small = json(&compact(whole));
        let shared = |stage: usize| (&small["stages"][stage]["parameters"], &small["stages"][stage]["explicit"]);
        assert_eq!(shared(0), (&json!({"clip": 7, "seed": 0}), &json!(["lr", "seed"])));
        assert_eq!(shared(1), (&json!({"width": 5}), &json!(["lr", "seed"])));
        assert_eq!(small["cells"]["m[lr=2]"]["parameters"], json!({"lr": 2}));
        assert_eq!(small["cells"]["m[lr=2]"]["key"], "abababababab");
        let of_bins = &small["cells"]["bins"];
        assert_eq!(of_bins["outputs"]["curves"]["digest"], "cdcdcdcdcdcd");
        assert_eq!(
            of_bins["inputs"]["a"],
            json!([
                {"cell": "m[lr=1]", "output": "curves"},
                {"cell": "lost", "output": "curves"},
                {"file": "x.pgn", "digest": "010101010101"},
            ])
        );
        assert!(small.get("code").is_none() && of_bins["explicit"] == json!([]));
    }

    /// sweep.yaml has some 2,500 cells; a training's parameters, of which six differ, are some 30.
    #[test]
    fn a_sweep_of_thousands_fits_in_a_page() {
        let parameters = |number: usize| {
            let text = |name| (format!("parameter_{name}"), Value::Text("a value of some length".into()));
            (0..30).map(text).chain([("lr".to_owned(), Value::Int(number as i128))])
        };
        let read = BTreeMap::from([
            ("train".to_owned(), vec![input("tokens", "train", "12")]),
            ("validation".to_owned(), vec![input("tokens", "validation", "34")]),
        ]);
        let label = |number| format!("sweep[family=transformer,size=d512/l6,lr=0.003,warmup=10000,number={number}]");
        let cells = (0..2_500).map(|number| (label(number), cell(parameters(number), read.clone())));
        let whole = provenance(&["sweep"], cells);
        let (before, after) = (json(&whole).to_string().len(), json(&compact(whole)).to_string().len());
        assert!(before > 3_000_000 && after < 1_500_000, "{before} became {after}");
    }
}
