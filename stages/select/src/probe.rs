//! The probe: trainings made up so that each rule of the ranking decides between two of them.

use std::fs;
use std::path::PathBuf;

use cwm_contract::{Failure, Label, Parameters, ProbeContext, ProbeOutput, Value};
use serde_json::{Map, json};

use crate::Select;
use crate::config::{Config, RANK};
use crate::scalar::Scalar;

/// Loss, exact, labelwise and trajectory of trainings: the best twice, so that parameters decide; one that is worse by
/// each measure in turn; one that is better but for its loss; and losses that are none.
const MEASURED: [(&str, [f64; 4]); 9] = [
    ("best_b", [0.1, 0.5, 0.9, 0.25]),
    ("best_a", [0.1, 0.5, 0.9, 0.25]),
    ("trajectory", [0.1, 0.5, 0.9, 0.125]),
    ("labelwise", [0.1, 0.5, 0.8, 0.5]),
    ("exact", [0.1, 0.4, 0.95, 0.5]),
    ("loss", [0.10000000000000002, 0.6, 0.95, 0.5]),
    ("least", [0.05, 0.0, 0.0, 0.0]),
    ("infinite", [f64::INFINITY, 0.5, 0.9, 0.25]),
    ("not_a_number", [f64::NAN, 0.5, 0.9, 0.25]),
];

/// Runs `select` on made-up trainings.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let config = Config::read(context.values())
        .map_err(|fault| Failure::input(format!("parameter `{}` {}", fault.parameter, fault.message)))?;
    let trainings = trainings(&config);
    // What was chosen by hand is probed in runs of its own: these trainings have neither its rank nor its values.
    let by_rule = context.values_with([("overrides", Value::Map(Default::default()))]);
    let given = written(context, "by_rule", &trainings)?;
    let mut probed = context.run(&Select, "by_rule", &by_rule, &inputs("summaries", &given))?;
    probed.extend(context.run(&Select, "own", context.values(), &inputs("summaries", &given))?);
    for (name, chosen) in [("rank", [(RANK, Value::Int(2))]), ("no_rank", [(RANK, Value::Int(99))])] {
        let (family, size) = family_and_size(&config);
        let chosen = Value::Map(chosen.map(|(key, value)| (key.to_owned(), value)).into());
        let sizes = Value::Map([(size, chosen)].into());
        let values = context.values_with([("overrides", Value::Map([(family, sizes)].into()))]);
        probed.extend(context.run(&Select, name, &values, &inputs("summaries", &given))?);
    }
    // The same as checkpoints, of which the best is handed on; then none that can be chosen, and none at all.
    let folders = given.iter().map(|(label, path)| (label.clone(), path.with_extension("d"))).collect::<Vec<_>>();
    probed.extend(context.run(&Select, "checkpoints", &by_rule, &inputs("checkpoints", &folders))?);
    let aside: Vec<_> = given.iter().filter(|(label, _)| label.stage.starts_with("aside")).cloned().collect();
    probed.extend(context.run(&Select, "all_aside", &by_rule, &inputs("summaries", &aside))?);
    probed.extend(context.run(&Select, "none", context.values(), &[])?);
    // Losses over different games are not compared, nor trainings of different sizes.
    let mut others = trainings;
    others[0].1["training"]["validation"]["games"] = json!(7);
    let mixed = written(context, "mixed", &others)?;
    probed.extend(context.run(&Select, "mixed", &by_rule, &inputs("summaries", &mixed))?);
    others[0].1["architecture"]["size"] = json!("d1/l1");
    let foreign = written(context, "foreign", &others)?;
    probed.extend(context.run(&Select, "foreign", &by_rule, &inputs("summaries", &foreign))?);
    Ok(probed)
}

/// Returns the family and size of the choice.
fn family_and_size(config: &Config) -> (String, String) {
    let or = |given: &Option<String>, other: &str| given.clone().unwrap_or_else(|| other.to_owned());
    (or(&config.family, "slice"), or(&config.size, "d64/l2"))
}

fn trainings(config: &Config) -> Vec<(Label, serde_json::Value)> {
    let (family, size) = family_and_size(config);
    let family = config.parent.clone().unwrap_or(family);
    let training = |place: usize, measured: Option<[f64; 4]>, status: &str| {
        let validation = measured.map(|[loss, exact, labelwise, trajectory]| {
            let loss = if loss.is_finite() { json!(loss) } else { json!(if loss.is_nan() { "nan" } else { "inf" }) };
            json!({ "loss": loss, "exact": exact, "labelwise": labelwise, "trajectory": trajectory, "games": 64 })
        });
        let mut training = Map::from_iter([
            ("steps".to_owned(), json!(70 + place)),
            ("schedule".to_owned(), json!(if place.is_multiple_of(2) { "cosine" } else { "constant" })),
            ("lr_floor".to_owned(), json!(0.1)),
            ("validation".to_owned(), json!(validation)),
        ]);
        for (index, name) in config.parameters.iter().enumerate() {
            // The first parameter falls as the place rises, so that the order given is not the order made.
            let value = if index == 0 { 1e-3 / (place + 1) as f64 } else { (place / (index + 1)) as f64 / 8.0 };
            training.insert(name.clone(), Scalar::of_json(&json!(value)).map_or(json!(null), |scalar| scalar.json()));
        }
        json!({
            "format": 1, "status": status, "training": training,
            "architecture": { "family": family, "size": size, "vocabulary": 20482, "dropout": 0.1, "options": {} },
        })
    };
    let mut all: Vec<(Label, serde_json::Value)> = Vec::new();
    for (place, (name, measured)) in MEASURED.into_iter().enumerate() {
        let is_none = !measured[0].is_finite();
        all.push((
            Label::stage(if is_none { format!("aside_{name}") } else { name.to_owned() }),
            training(place, Some(measured), "finished"),
        ));
    }
    // Equal in all but the label.
    all.push((Label::stage("a_twin"), all[0].1.clone()));
    all.push((Label::stage("aside_diverged"), training(9, Some(MEASURED[0].1), "diverged")));
    all.push((Label::stage("aside_unvalidated"), training(10, None, "finished")));
    all
}

/// The trainings as files, and each as a folder of the same name beside its file.
fn written(
    context: &ProbeContext,
    name: &str,
    trainings: &[(Label, serde_json::Value)],
) -> Result<Vec<(Label, PathBuf)>, Failure> {
    let mut given = Vec::new();
    for (label, summary) in trainings {
        let path = context.folder().join(name).join(&label.stage);
        let folder = path.with_extension("d");
        fs::create_dir_all(&folder).map_err(|error| Failure::io("make", &folder, error))?;
        for path in [path.clone(), folder.join("model.json")] {
            fs::write(&path, summary.to_string()).map_err(|error| Failure::io("write", &path, error))?;
        }
        given.push((label.clone(), path));
    }
    Ok(given)
}

fn inputs(input: &'static str, given: &[(Label, PathBuf)]) -> Vec<(&'static str, Label, PathBuf)> {
    given.iter().map(|(label, path)| (input, label.clone(), path.clone())).collect()
}

#[cfg(test)]
mod tests {
    use cwm_contract::{Values, testing};

    use super::*;

    #[test]
    fn every_rule_decides_somewhere_and_the_same_comes_twice() {
        let folder = tempfile::tempdir().unwrap();
        let probe = || testing::probe(&Select, Values::new(), folder.path()).unwrap().unwrap();
        let probed = probe();
        let lines = |name: &str| -> Vec<serde_json::Value> {
            let text = String::from_utf8(probed[name].clone()).unwrap();
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        let ranked = lines("by_rule/candidates");
        let labels: Vec<&str> = ranked.iter().map(|line| line["label"].as_str().unwrap()).collect();
        let expected = ["least", "best_a", "a_twin", "best_b", "trajectory", "labelwise", "exact", "loss"];
        assert_eq!(labels[..8], expected);
        let aside = ["aside_diverged", "aside_infinite", "aside_not_a_number", "aside_unvalidated"];
        assert_eq!(labels[8..], aside);
        assert_eq!(lines("rank/candidates")[1]["chosen"], true);
        for refused in ["no_rank", "all_aside", "none", "mixed", "foreign"] {
            assert!(!probed[&format!("{refused}/refused")].is_empty(), "{refused}");
        }
        assert!(probed.contains_key("checkpoints/choice"), "{:?}", probed.keys());
        std::fs::remove_dir_all(folder.path()).unwrap();
        assert!(probe() == probed);
    }
}
