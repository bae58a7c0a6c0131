//! Every family of the registry.

use cwm_contract::{Stage, Value, Values, testing};
use cwm_models::checkpoint;
use cwm_models::families::FAMILIES;

use super::{data, losses, text, trained};
use crate::Learn;

#[test]
fn every_family_trains_two_steps() {
    let data = data();
    for family in FAMILIES {
        let work = trained(
            data.path(),
            &[
                ("family", text(family.name)),
                ("size", text("d64/l1")),
                ("epochs", Value::Null),
                ("steps", Value::Int(2)),
                ("warmup", Value::Int(0)),
                ("lr", Value::Float(1e-3)),
            ],
        );
        let (_, network, weights) = checkpoint::read(&work.path().join("out/checkpoint"), 10).unwrap();
        let start = network.initial_weights(5);
        assert!(weights.is_finite(), "{}", family.name);
        for (index, declared) in network.layout().parameters().iter().enumerate() {
            assert!(weights.get(index) != start.get(index), "{}: {} is as it was", family.name, declared.name);
        }
        assert_eq!(losses(work.path(), "train").len(), 2, "{}", family.name);
    }
}

#[test]
fn parts_of_the_code_are_those_of_the_family() {
    let values = |family: &str| {
        let defaults = Learn.parameters().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?)));
        let mut values: Values = defaults.collect();
        values.insert("family".into(), text(family));
        values
    };
    assert_eq!(Learn.code_parts(&values("mamba3_mimo")), Some(vec!["mamba3".to_owned()]));
    let work = Learn.work(&values("gpt"), &[("train".to_owned(), Some(330_000))].into()).unwrap();
    assert_eq!(
        work.units,
        Learn.work(&values("gpt"), &[("train".to_owned(), Some(165_000))].into()).unwrap().units * 2.0
    );
}

#[test]
fn the_probe_trains_to_the_end_gives_up_when_guarded_and_is_the_same_twice() {
    let probe = |given: &[(&str, Value)]| {
        let folder = tempfile::tempdir().unwrap();
        let size = [("size", text("d16/l1"))];
        let values = size.iter().chain(given).map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        testing::probe(&Learn, values, folder.path()).unwrap().unwrap()
    };
    let usual = probe(&[]);
    let refused: Vec<_> = usual.keys().filter(|name| name.ends_with("refused")).collect();
    assert!(refused.is_empty(), "{refused:?}");
    let status = |run: &str| {
        let summary: serde_json::Value = serde_json::from_slice(&usual[&format!("{run}/summary")]).unwrap();
        summary["status"].as_str().unwrap().to_owned()
    };
    assert_eq!(["own", "clipped", "guarded"].map(status), ["finished", "finished", "diverged"]);
    assert!(probe(&[]) == usual);
    let short =
        Value::Map([("positions", "12"), ("mask", "none")].map(|(name, value)| (name.to_owned(), text(value))).into());
    for other in [("options", short), ("seed_data", Value::Int(3)), ("schedule", text("linear"))] {
        let probed = probe(std::slice::from_ref(&other));
        assert!(probed != usual && probed.keys().eq(usual.keys()), "{}", other.0);
    }
}
