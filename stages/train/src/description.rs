//! The training of a model, for its description.

use cwm_models::heads::labels::Tally;
use cwm_training::State;
use cwm_training::curves::number;
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

/// The object `training` of a checkpoint (`docs/formats.md`). `measured` is the last validation, and on which games.
pub fn training(
    config: &Config,
    extent: Extent,
    state: &State<LabelMetrics>,
    measured: Option<(&str, &Tally)>,
) -> Map<String, Value> {
    let (validated_on, validation) = measured.map(|(games, tally)| (games, validation_of(tally))).unzip();
    let mut training = json!({
        "games": extent.games,
        "steps": state.step,
        "steps_per_epoch": extent.steps_per_epoch,
        "updates": state.adamw.updates,
        "skipped": state.skipped,
        "batch_size": config.batch_size,
        "lr": config.lr,
        "warmup": config.warmup,
        "schedule": config.schedule,
        "lr_floor": config.lr_floor,
        "horizon": config.horizon.unwrap_or(extent.total_steps),
        "weight_decay": config.weight_decay,
        "beta2": config.beta2,
        "clip": config.clip,
        "dropout": config.dropout,
        "seed": config.seed,
        "seed_init": config.init_seed(),
        "seed_data": config.data_seed(),
        "seed_dropout": config.dropout_seed(),
        "order": config.order,
        "batching": config.batching,
        "en_passant": config.en_passant,
        "precision": config.precision,
        "micro_batch_tokens": config.micro_batch_tokens,
        "validation": validation,
        "validated_on": validated_on,
    });
    // What a training makes no use of would make equal results unequal.
    if config.order == "authors" {
        training["shard_games"] = json!(config.shard_games);
        training["workers"] = json!(config.workers);
    }
    if config.batching == "bucketed" {
        training["bucket_batches"] = json!(config.bucket_batches);
    }
    // Marked wherever the training is named: another model than the paper would have tested.
    if config.keeps_best() {
        training["checkpoint"] = json!(config.checkpoint);
        training["checkpoint_step"] = json!(state.best.as_ref().map(|best| best.step));
        training["checkpoint_validation"] = json!(state.best.as_ref().map(|best| validation_of(&best.metrics.0)));
    }
    match training {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn validation_of(tally: &Tally) -> Value {
    json!({
        "loss": number(tally.loss()),
        "labelwise": number(tally.labelwise()),
        "exact": number(tally.exact()),
        "trajectory": number(tally.trajectory()),
        "games": tally.games,
    })
}
