//! What stands in a page of the provenance: the same, with what repeats told once and digests as short as the page shows
//! them. A sweep has thousands of cells, and a page is to be sent by mail.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Hexadecimal digits that are left of keys and digests: those that the page shows, and that `cwm show` knows them by.
const DIGITS: usize = 12;

/// `told` is a [`super::Provenance`] as JSON. Parameters (and which of them the pipeline gives) that are the same in all cells
/// of a stage move into its entry of `stages`; the digest of an input is left out where its cell tells it.
pub fn compact(mut told: Value) -> Value {
    if let Some(object) = told.as_object_mut() {
        // By fingerprint, what code it is of: nothing in the page looks there.
        object.remove("code");
    }
    let digests = digests(&told);
    let mut shared: BTreeMap<String, [Map<String, Value>; 2]> = BTreeMap::new();
    for (label, cell) in cells(&mut told) {
        shorten(cell.get_mut("key"));
        for output in entries(cell.get_mut("outputs")) {
            shorten(output.get_mut("digest"));
        }
        for input in entries(cell.get_mut("inputs")).flat_map(|group| group.as_array_mut().into_iter().flatten()) {
            let named = |name: &str| input.get(name).and_then(Value::as_str);
            let known =
                named("cell").zip(named("output")).and_then(|(cell, port)| digests.get(&format!("{cell}.{port}")));
            if known.is_some() && known == input.get("digest") {
                input.as_object_mut().map(|input| input.remove("digest"));
            } else {
                shorten(input.get_mut("digest"));
            }
        }
        let of = [object(cell.get("parameters")), given(cell)];
        match shared.get_mut(stage(label)) {
            None => _ = shared.insert(stage(label).to_owned(), of),
            Some(known) => {
                for (known, of) in known.iter_mut().zip(of) {
                    known.retain(|name, value| of.get(name) == Some(&*value));
                }
            }
        }
    }
    for (label, cell) in cells(&mut told) {
        let Some([parameters, _]) = shared.get(stage(label)) else { continue };
        if let Some(own) = cell.get_mut("parameters").and_then(Value::as_object_mut) {
            own.retain(|name, _| !parameters.contains_key(name));
        }
        if let (Some([_, given]), Some(own)) =
            (shared.get(stage(label)), cell.get_mut("given").and_then(Value::as_array_mut))
        {
            own.retain(|name| name.as_str().is_none_or(|name| !given.contains_key(name)));
        }
    }
    for total in told.get_mut("stages").and_then(Value::as_array_mut).into_iter().flatten() {
        let name = total.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        if let (Some([parameters, given]), Some(total)) = (shared.remove(&name), total.as_object_mut()) {
            total.insert("parameters".to_owned(), Value::Object(parameters));
            total.insert("given".to_owned(), given.into_iter().map(|(name, _)| Value::String(name)).collect());
        }
    }
    told
}

/// The stage of a label.
fn stage(label: &str) -> &str {
    label.split('[').next().unwrap_or_default()
}

fn cells(told: &mut Value) -> impl Iterator<Item = (&String, &mut Value)> {
    told.get_mut("cells").and_then(Value::as_object_mut).into_iter().flatten()
}

fn entries(map: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    map.and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut)
}

fn object(value: Option<&Value>) -> Map<String, Value> {
    value.and_then(Value::as_object).cloned().unwrap_or_default()
}

/// The names of the parameters that the pipeline gives, as keys.
fn given(cell: &Value) -> Map<String, Value> {
    let names = cell.get("given").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    names.map(|name| (name.to_owned(), Value::Null)).collect()
}

/// Of all outputs, by `label.output`, whole.
fn digests(told: &Value) -> BTreeMap<String, Value> {
    let cells = told.get("cells").and_then(Value::as_object).into_iter().flatten();
    let outputs = cells.flat_map(|(label, cell)| {
        let outputs = cell.get("outputs").and_then(Value::as_object).into_iter().flatten();
        outputs
            .map(move |(port, output)| (format!("{label}.{port}"), output.get("digest").cloned().unwrap_or_default()))
    });
    outputs.collect()
}

fn shorten(digest: Option<&mut Value>) {
    if let Some(Value::String(digest)) = digest {
        digest.truncate(DIGITS);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cell(parameters: Value, inputs: Value) -> Value {
        json!({
            "stage": "train", "key": "ab".repeat(32), "parameters": parameters, "given": ["lr", "seed"], "code": "0123",
            "inputs": inputs, "outputs": {"curves": {"format": "curves", "digest": "cd".repeat(32), "size": 9}},
        })
    }

    #[test]
    fn what_all_cells_of_a_stage_share_stands_once() {
        let read = json!({"a": [
            {"cell": "m[lr=1]", "output": "curves", "digest": "cd".repeat(32)},
            {"cell": "lost", "output": "curves", "digest": "ef".repeat(32)},
            {"file": "x.pgn", "digest": "01".repeat(32)},
        ]});
        let told = json!({
            "code": {"0123": {}}, "stages": [{"name": "m"}, {"name": "bins"}],
            "cells": {
                "bins": cell(json!({"width": 5}), read),
                "m[lr=1]": cell(json!({"lr": 1, "clip": 1.0, "seed": 0}), json!({})),
                "m[lr=2]": cell(json!({"lr": 2, "clip": 1.0, "seed": 0}), json!({})),
            },
        });
        let small = compact(told);
        assert_eq!(
            small["stages"],
            json!([
                {"name": "m", "parameters": {"clip": 1.0, "seed": 0}, "given": ["lr", "seed"]},
                {"name": "bins", "parameters": {"width": 5}, "given": ["lr", "seed"]},
            ])
        );
        assert_eq!(small["cells"]["m[lr=2]"]["parameters"], json!({"lr": 2}));
        assert_eq!(small["cells"]["m[lr=2]"]["key"], "abababababab");
        let of_bins = &small["cells"]["bins"];
        assert_eq!(of_bins["outputs"]["curves"]["digest"], "cdcdcdcdcdcd");
        assert_eq!(
            of_bins["inputs"]["a"],
            json!([
                {"cell": "m[lr=1]", "output": "curves"},
                {"cell": "lost", "output": "curves", "digest": "efefefefefef"},
                {"file": "x.pgn", "digest": "010101010101"},
            ])
        );
        assert!(small.get("code").is_none() && of_bins["given"] == json!([]));
    }

    /// sweep.yaml has some 2,500 cells; a training's parameters, of which six differ, are some 30.
    #[test]
    fn a_sweep_of_thousands_fits_in_a_page() {
        let parameters = |number: usize| {
            let mut all: Map<String, Value> =
                (0..30).map(|name| (format!("parameter_{name}"), json!("a value of some length"))).collect();
            all.insert("lr".to_owned(), json!(number));
            Value::Object(all)
        };
        let read = json!({"train": [{"cell": "tokens", "output": "train", "digest": "12".repeat(32)}],
                          "validation": [{"cell": "tokens", "output": "validation", "digest": "34".repeat(32)}]});
        let label = |number| format!("sweep[family=transformer,size=d512/l6,lr=0.003,warmup=10000,number={number}]");
        let cells: Map<String, Value> =
            (0..2_500).map(|number| (label(number), cell(parameters(number), read.clone()))).collect();
        let told = json!({"stages": [{"name": "sweep"}], "cells": cells});
        let (whole, small) = (told.to_string().len(), compact(told).to_string().len());
        assert!(whole > 3_000_000 && small < 1_500_000, "{whole} became {small}");
    }
}
