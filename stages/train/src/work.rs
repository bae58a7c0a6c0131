//! How much a training has to do, for estimates of what it will take.

use std::collections::BTreeMap;

use cwm_contract::{Parameters, Values, Work};
use cwm_models::Network;

use crate::config::Config;

/// Positions of a usual game, and bytes of it in a dataset (docs/formats.md).
const GAME: (f64, f64) = (80.0, 188.0);

/// Positions that go through the model, times its parameters; of one family, its options and precision. What goes on from
/// a shorter training does an unknown part of it, and is no measure of others.
pub fn work(values: &Values, inputs: &BTreeMap<String, u64>) -> Option<Work> {
    let config = Config::read(values).ok()?;
    let parameters = Network::build(config.architecture().ok()?).ok()?.layout().total() as f64;
    let games = *inputs.get("train")? as f64 / GAME.1;
    let games = config.games.map_or(games, |limit| games.min(limit as f64));
    let seen = match config.steps {
        Some(steps) => (steps * config.batch_size) as f64,
        None => games * config.epochs.unwrap_or(1) as f64,
    };
    let begins = if inputs.contains_key("state") { " from a shorter one" } else { "" };
    let sort = format!("{} {:?} {}{begins}", config.family, config.options, config.precision);
    Some(Work { sort, units: seen * GAME.0 * parameters })
}

#[cfg(test)]
mod tests {
    use cwm_contract::Value;

    use super::*;

    #[test]
    fn work_grows_with_games_epochs_and_parameters() {
        let units = |given: &[(&str, Value)]| {
            let defaults = Config::specs().into_iter().filter_map(|spec| Some((spec.name.to_owned(), spec.default?)));
            let mut values: Values = defaults.collect();
            values.extend(given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
            work(&values, &BTreeMap::from([("train".to_owned(), 188_000)])).unwrap().units
        };
        let once = units(&[]);
        assert_eq!(units(&[("epochs", Value::Int(3))]), 3.0 * once);
        assert_eq!(units(&[("games", Value::Int(500))]), once / 2.0);
        assert_eq!(units(&[("steps", Value::Int(10)), ("batch_size", Value::Int(100))]), once);
        assert!(units(&[("size", Value::Text("d256/l2".into()))]) > 2.0 * once);
    }
}
