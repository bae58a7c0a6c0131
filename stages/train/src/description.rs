//! The training of a model, for its description.

use cwm_training::{State, describe};
use serde_json::{Map, Value, json};

use crate::config::Config;
use crate::task::LabelMetrics;

/// The extent of a run, beside its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Games trained on.
    pub games: usize,
    /// Steps of the first epoch.
    pub steps_per_epoch: u64,
    /// Steps that were requested.
    pub total_steps: u64,
}

/// The object `training` of a checkpoint (`docs/formats.md`). `measured` is the digest of the validation games, and the
/// last validation.
pub fn training(
    config: &Config,
    extent: Extent,
    state: &State<LabelMetrics>,
    measured: Option<(&str, &LabelMetrics)>,
) -> Map<String, Value> {
    let (validated_on, validation) = measured.unzip();
    let mut training = describe(&config.hyper, (extent.steps_per_epoch, extent.total_steps), state, validation);
    let mut insert = |name: &str, value: Value| training.insert(name.to_owned(), value);
    insert("games", json!(extent.games));
    insert("order", json!(config.order));
    insert("en_passant", json!(config.en_passant));
    insert("validated_on", json!(validated_on));
    // Parameters without effect would make equal results unequal.
    if config.order == "authors" {
        insert("shard_games", json!(config.shard_games));
        insert("workers", json!(config.workers));
    }
    training
}
