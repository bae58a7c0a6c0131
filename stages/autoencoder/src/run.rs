//! Trains, measures and writes.

use std::collections::BTreeMap;

use cwm_contract::{Context, Failure};
use cwm_findings::{Finding, Kind};
use cwm_inside::autoencoder::{Autoencoder, Description, SiteDescription, TrainedAutoencoder};
use cwm_inside::{Collection, Model, WeightsSource, scratch};
use cwm_models::Device;
use cwm_models::device;
use serde_json::{Map, Value, json};

use crate::config::Config;
use crate::games::Games;
use crate::measure::{AutoencoderEvaluation, SiteMeasures};
use crate::reservoir::Source;
use crate::state::State;
use crate::train::Training;
use crate::trainer::Trainer;

/// Runs the stage.
///
/// # Errors
/// An input or parameter is not what it should be, an operation on the disk fails, or the stage was cancelled.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    device::run(context, |device| on_device(context, &config, device))
}

fn on_device(context: &Context, config: &Config, device: &Device) -> Result<(), Failure> {
    let model = Model::open(context.input("checkpoint")?, WeightsSource::Trained, device)?
        .with_precision(config.precision())?;
    model.check_family(config.family.as_deref())?;
    let mut sites = model.checked_sites(&config.layers, "layers")?;
    if config.layers.is_empty() {
        sites.retain(|&site| site > 0);
    }
    let latents = model.width() * config.ratio as usize;
    let autoencoder = Autoencoder::new(model.width(), latents)
        .ok_or_else(|| Failure::input(format!("{latents} latents are too many for any machine: lower `ratio`")))?;
    let workers = device::workers(context, device)?;
    let games = Games::open(context, "train", &model, config.max_tokens)?;
    let test = Games::open(context, "test", &model, config.max_tokens)?;
    test.check_apart(&games, config.test_games)?;
    test.check_measured(config.test_games)?;
    let count = games.count(context)?;
    let batch_tokens = config.batch_tokens as usize;
    let collection = Collection { sites: sites.clone(), normed: false, batch_tokens };
    let source = Source { model: &model, workers: &workers, games: &games, collection, seed: config.seed };
    let total = config.tokens.unwrap_or(count.rows);
    let training = Training { context, config, source, autoencoder: &autoencoder, total };
    context.log(scratch(total.min(config.block_rows()), sites.len(), model.width()));
    let mut trainer = Trainer::new(&autoencoder, sites.len(), (device, &workers), config.precision());
    let state = training.run(&mut trainer)?;
    drop(trainer);
    fs_err::write(context.output("curves")?, &state.progress.curves)?;
    let dead = dead(&state, config.dead_after.min(total));
    let of_state = sites.iter().zip(state.sites);
    let trained: Vec<(usize, TrainedAutoencoder)> = of_state
        .map(|(&site, state)| {
            (site, TrainedAutoencoder { autoencoder: autoencoder.clone(), weights: state.weights, scale: state.scale })
        })
        .collect();
    let folder = context.output("autoencoder")?;
    let of_sites = sites.iter().copied().zip(dead.iter().map(|&dead| SiteDescription { dead })).collect();
    let dropped = [("too_long", count.too_long), ("other_rules", count.other_rules)];
    let counts = [&[("rows", total), ("updates", training.updates())][..], &dropped].concat();
    let training = training_of(config, &counts);
    Description::new(model.json(), (model.width(), latents), of_sites, training).write(folder)?;
    trained.iter().try_for_each(|(site, trained)| trained.write(folder, *site))?;
    let keep_begin = config.keep_begin;
    let evaluation =
        AutoencoderEvaluation { context, model: &model, device, workers: &workers, batch_tokens, keep_begin };
    let (loss, measures) = evaluation.run(&test, config.test_games, &trained, config.precision())?;
    let findings: Vec<Finding> = measures
        .iter()
        .zip(sites.iter().zip(dead))
        .map(|(measures, (&site, dead))| {
            finding(&model, site, (loss, measures), dead as f64 / latents as f64).name("ratio", config.ratio)
        })
        .collect();
    for finding in &findings {
        let layer = finding.layer.unwrap_or_default();
        for name in ["recovered", "l0"] {
            finding.get(name).into_iter().for_each(|value| context.metric(&format!("{name}_{layer}"), value));
        }
    }
    cwm_findings::write(context.output("findings")?, findings)
}

/// The number of latents of each site that were above 0 in none of the last `after` rows.
fn dead(state: &State, after: u64) -> Vec<u64> {
    let count = |rows_since_active: &[u64]| rows_since_active.iter().filter(|&&rows| rows >= after).count() as u64;
    state.sites.iter().map(|site| count(&site.rows_since_active)).collect()
}

/// The row of a site in Table 3.
fn finding(model: &Model, site: usize, (loss, measures): (f64, &SiteMeasures), dead: f64) -> Finding {
    let SiteMeasures { rows, reconstructed, zero, mean } = *measures;
    let finding =
        Finding::new(Kind::Reconstruction, model.name(), model.weights_source().name(), Some(site as u32), rows.rows)
            .name("task", model.task().name())
            .value("ce", loss)
            .value("ce_sae", reconstructed)
            .value("ce_zero", zero)
            .value("ce_mean", mean)
            .value("l0", rows.l0)
            .value("l1", rows.l1)
            .value("mse", rows.mse)
            .value("cosine", rows.cosine)
            .value("explained_variance", rows.explained_variance)
            .value("norm_ratio", rows.norm_ratio)
            .value("dead", dead);
    recovered([zero, reconstructed, loss]).into_iter().fold(finding, |finding, share| finding.value("recovered", share))
}

/// The share of the loss added by a stream of zeros that the reconstruction avoids; `None` if zeros add none.
fn recovered([zero, reconstructed, loss]: [f64; 3]) -> Option<f64> {
    (zero > loss).then(|| (zero - reconstructed) / (zero - loss))
}

/// The training in the description: parameters that affect it, and counts.
fn training_of(config: &Config, counts: &[(&str, u64)]) -> Map<String, Value> {
    let settings = [
        ("ratio", json!(config.ratio)),
        ("batch_size", json!(config.batch_size)),
        ("lr", json!(config.lr)),
        ("beta1", json!(config.beta1)),
        ("beta2", json!(config.beta2)),
        ("warmup", json!(config.warmup)),
        ("sparsity", json!(config.sparsity)),
        ("sparsity_warmup", json!(config.sparsity_warmup)),
        ("bias", json!(config.bias)),
        ("scale", json!(config.scale)),
        ("dead_after", json!(config.dead_after)),
        ("max_tokens", json!(config.max_tokens)),
        ("seed", json!(config.seed)),
        ("precision", json!(config.precision)),
    ];
    let settings: BTreeMap<&str, Value> =
        settings.into_iter().chain(counts.iter().map(|&(name, count)| (name, json!(count)))).collect();
    settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::recovered;

    #[test]
    fn nothing_is_recovered_of_a_loss_that_zeros_do_not_raise() {
        assert_eq!(recovered([3.0, 1.5, 1.0]), Some(0.75));
        assert_eq!(recovered([1.0, 1.5, 2.0]), None);
        assert_eq!(recovered([1.0, 1.0, 1.0]), None);
    }
}
