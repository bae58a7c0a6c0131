//! The stage: read, pair, compare.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use cwm_contract::{Context, Failure};
use cwm_scores::ScoredModel;

use crate::comparison::{Comparison, compare};
use crate::config::Config;
use crate::games::Scores;
use crate::metric::{DECISIVE_COLUMN, DECISIVE_PLURAL};
use crate::model::Model;
use crate::on_cores::on_cores;
use crate::runs::Runs;

/// Runs the stage.
///
/// # Errors
/// Scores are not what they should be or do not belong together, the file cannot be written, or what is expected does
/// not hold; or it was cancelled.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let mut models: BTreeMap<Model, Runs> = BTreeMap::new();
    let mut left_out = Vec::new();
    let inputs = context.group("scores");
    let done = AtomicU64::new(0);
    let all = on_cores(inputs.len(), context.cores(), |place| {
        context.check_cancelled()?;
        let input = &inputs[place];
        let scores = Scores::read(&input.label, &input.path)?;
        context.progress(done.fetch_add(1, Ordering::Relaxed) + 1, Some(inputs.len() as u64), "scores");
        Ok((ScoredModel::of(&input.label, &scores.model)?, scores.games))
    })?;
    for (input, (scored, games)) in inputs.iter().zip(all) {
        let is_baseline = scored.family == config.baseline;
        let seed = scored.seed;
        let runs = models.entry(Model::new(&input.label, scored)).or_default();
        match games {
            Some(games) => runs.add(&input.label, seed, games)?,
            None => left_out.push((&input.label, is_baseline)),
        }
    }
    for (label, _) in &left_out {
        context.note(format!("{label} is left out: its predictions have no {DECISIVE_PLURAL}"));
    }
    let compared = compare(context, &models, &config)?;
    compared.iter().for_each(|comparison| context.log(comparison.summary(&config)));
    let path = context.output("differences")?;
    let lines: String = compared.iter().map(|comparison| format!("{}\n", comparison.json(&config))).collect();
    std::fs::write(path, lines).map_err(|error| Failure::io("write", path, error))?;
    if config.expect != "lower" {
        return Ok(());
    }
    if let Some((label, _)) = left_out.iter().find(|(_, is_baseline)| !is_baseline) {
        return Err(Failure::input(format!("{label} holds no {DECISIVE_PLURAL}, so it cannot be below {}", config.baseline))
            .hint(format!("give its predictions a column `{DECISIVE_COLUMN}`, or leave it out of `scores`; `expect: nothing` only reports")));
    }
    all_lower(&compared, &config)
}

fn all_lower(compared: &[Comparison], config: &Config) -> Result<(), Failure> {
    let not: Vec<_> =
        compared.iter().filter(|comparison| !comparison.is_lower()).map(|one| one.summary(config)).collect();
    if not.is_empty() {
        return Ok(());
    }
    let (few, all) = (not.len(), compared.len());
    Err(Failure::input(format!(
        "{few} of {all} models are not below {}, as was expected: {}",
        config.baseline,
        not.join("; ")
    ))
    .hint("train longer or on more games; `expect: nothing` only reports"))
}
