//! The amount of work of a training, for estimates of its time.

use std::collections::BTreeMap;

use cwm_contract::{Parameters, Values, Work};
use cwm_models::heads::labels;
use cwm_training::work;

use crate::config::Config;

/// Positions of a usual game, and bytes of it in a dataset (docs/formats.md).
const GAME: (f64, f64) = (80.0, 188.0);

/// Positions that go through the model, times its parameters; of one family, its options and precision. A training that
/// continues a shorter one does an unknown part of it, and is no measure of others.
pub fn work(values: &Values, inputs: &BTreeMap<String, Option<u64>>) -> Option<Work> {
    let config = Config::read(values).ok()?;
    let network = labels::network(config.architecture().ok()?).ok()?;
    let games = || {
        let games = inputs.get("train").copied().flatten()? as f64 / GAME.1;
        Some(config.games.map_or(games, |limit| games.min(limit as f64)))
    };
    let mut work = work::work(&config.hyper, &network, GAME.0, games, inputs.contains_key("validation"))?;
    if inputs.contains_key("state") {
        work.group += " from a shorter one";
    }
    // Weights, both moments, the snapshot, and the best weights where there are any.
    let arrays = if config.hyper.keeps_best() { 5.0 } else { 4.0 };
    let kept = arrays * 4.0 * network.layout().total() as f64 + work.bytes["curves"];
    work.bytes.insert("state".to_owned(), if config.keep_state { kept } else { 64.0 });
    Some(work)
}

#[cfg(test)]
mod tests {
    use cwm_contract::Value;

    use super::*;

    fn work_of(parameters: &[(&str, Value)], train: Option<u64>) -> Option<Work> {
        let defaults = Config::specs().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?)));
        let mut values: Values = defaults.collect();
        values.extend(parameters.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        work(&values, &BTreeMap::from([("train".to_owned(), train)]))
    }

    #[test]
    fn work_grows_with_games_epochs_and_parameters() {
        let units = |parameters: &[(&str, Value)]| work_of(parameters, Some(188_000)).unwrap().units;
        let once = units(&[]);
        assert_eq!(units(&[("epochs", Value::Int(3))]), 3.0 * once);
        assert_eq!(units(&[("games", Value::Int(500))]), once / 2.0);
        let steps = [("steps", Value::Int(10)), ("batch_size", Value::Int(100))];
        assert_eq!(units(&steps), once);
        assert!(units(&[("size", Value::Text("d256/l2".into()))]) > 2.0 * once);
        // How many games there are is computed only where it counts.
        assert_eq!(work_of(&steps, None).unwrap().units, once);
        assert_eq!(work_of(&[], None), None);
    }

    #[test]
    fn memory_and_what_is_written_grow_with_the_model_and_not_with_the_games() {
        let of = |parameters: &[(&str, Value)]| work_of(parameters, Some(188_000)).unwrap();
        let (once, often) = (of(&[]), of(&[("epochs", Value::Int(200))]));
        assert_eq!((often.memory, often.bytes["checkpoint"]), (once.memory, once.bytes["checkpoint"]));
        assert!(often.bytes["curves"] > 100.0 * once.bytes["curves"]);
        // What was seen: 12,514,785 bytes of d128/l1; 146,657,410 bytes and 1,070 MB of d512/l6 with batches of two
        // games.
        assert!((once.bytes["checkpoint"] / 12_514_785.0 - 1.0).abs() < 0.01, "{once:?}");
        let large = of(&[("size", Value::Text("d512/l6".into())), ("batch_size", Value::Int(2))]);
        assert!((large.bytes["checkpoint"] / 146_657_410.0 - 1.0).abs() < 0.01, "{large:?}");
        assert!((large.memory as f64 / 1.07e9 - 1.0).abs() < 0.1, "{large:?}");
        assert!(of(&[("batch_size", Value::Int(2))]).memory < once.memory);
        let kept = of(&[("keep_state", Value::Bool(true))]);
        assert!(kept.bytes["state"] > 4.0 * kept.bytes["checkpoint"] - 1e4 && once.bytes["state"] < 100.0, "{kept:?}");
    }

    #[test]
    fn the_best_weights_are_one_array_more_in_memory_and_in_the_state() {
        let of = |checkpoint: &str, keep_state: bool| {
            let parameters = [("checkpoint", Value::Text(checkpoint.into())), ("keep_state", Value::Bool(keep_state))];
            work_of(&parameters, Some(188_000)).unwrap()
        };
        let (last, best) = (of("last", true), of("best", true));
        let weights = last.bytes["checkpoint"] - 1e3;
        assert_eq!((best.memory - last.memory) as f64, weights);
        assert!((best.bytes["state"] - last.bytes["state"] - weights).abs() < 1.0, "{best:?} {last:?}");
        assert_eq!(best.bytes["checkpoint"], last.bytes["checkpoint"], "one of the two is given out");
        assert_eq!(of("best", false).bytes["state"], of("last", false).bytes["state"]);
        assert_eq!((best.group, best.units), (last.group, last.units), "it takes no longer");
    }
}
