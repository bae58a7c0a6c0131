//! The stage: read, rank, choose, write.

use std::collections::BTreeMap;

use cwm_contract::{Context, Failure};

use crate::candidate::Candidate;
use crate::choosing::{ManualChoice, choose, describe};
use crate::config::Config;
use crate::output::{write_candidates, write_choice};
use crate::ranking::Ranking;
use crate::scalar::Scalar;

/// The description in a checkpoint's folder.
const DESCRIPTION: &str = "model.json";

/// Chooses by the parameters of the context.
///
/// # Errors
/// A training is not what it should be, none can be chosen, or a file cannot be read or written.
pub fn run(context: &Context) -> Result<(), Failure> {
    let config: Config = context.parameters()?;
    let checkpoints = context.group("checkpoints");
    let mut candidates = Vec::new();
    for input in context.group("summaries") {
        candidates.push(Candidate::read(&input.label, &input.path, &config.parameters)?);
    }
    for input in checkpoints {
        candidates.push(Candidate::read(&input.label, &input.path.join(DESCRIPTION), &config.parameters)?);
    }
    let (family, size) = family_and_size(&config, &candidates)?;
    let trained = config.parent.as_ref().unwrap_or(&family);
    // What is chosen by hand for the parent holds for the ablation as well, unless that has a choice of its own.
    let by_hand = [&family, trained].into_iter().find_map(|family| config.overrides.get(family)?.get(&size));
    let by_hand = by_hand.map(ManualChoice::read);
    let cell_name = format!("{trained} {size}");
    if candidates.is_empty() {
        let parameters = without_trainings(&format!("{family} {size}"), by_hand)?;
        context.log(format!("{family} {size}: {}, given by hand", describe(&parameters)));
        write_candidates(context.output("candidates")?, &Ranking { ranked: Vec::new(), excluded: Vec::new() }, None)?;
        return write_choice(context.output("choice")?, &family, &size, &parameters);
    }
    let ranking = Ranking::of(candidates, &config.parameters)?;
    let chosen = choose(&cell_name, &ranking, by_hand.as_ref())?;
    log_ranking(context, &ranking, &chosen);
    let winner = &ranking.ranked[chosen.0];
    if let Some(input) = checkpoints.iter().find(|input| input.label == winner.label) {
        context.pass_through("checkpoint", &input.path);
    }
    write_candidates(context.output("candidates")?, &ranking, Some(&chosen))?;
    write_choice(context.output("choice")?, &family, &size, &winner.parameters)
}

/// Family and size that the choice is for; the trainings must be of that size, and of that family or its parent.
fn family_and_size(config: &Config, candidates: &[Candidate]) -> Result<(String, String), Failure> {
    let missing = |name: &str| {
        Failure::input(format!(
            "without trainings, `{name}` must be given: nothing else determines what the choice is for"
        ))
    };
    let first = candidates.first();
    let trained = config.parent.as_ref().or(config.family.as_ref()).or(first.map(|first| &first.family));
    let trained = trained.ok_or_else(|| missing("family"))?;
    let size = config.size.as_ref().or(first.map(|first| &first.size)).ok_or_else(|| missing("size"))?;
    if let Some(other) = candidates.iter().find(|other| other.family != *trained || other.size != *size) {
        return Err(Failure::input(format!(
            "{} is a training of {} {}; this is a choice among those of {trained} {size}",
            other.label, other.family, other.size
        ))
        .hint("give `select` the axes `family` and `size` that the trainings have: each cell then reads its own"));
    }
    Ok((config.family.as_ref().unwrap_or(trained).clone(), size.clone()))
}

/// The choice where there is nothing to choose from.
fn without_trainings(cell: &str, by_hand: Option<ManualChoice>) -> Result<BTreeMap<String, Scalar>, Failure> {
    match by_hand {
        Some(ManualChoice::Parameters(parameters)) => Ok(parameters),
        Some(ManualChoice::Rank(rank)) => {
            Err(Failure::input(format!("`overrides` takes the training of rank {rank} for {cell}, and none are given")))
        }
        None => Err(Failure::input(format!("there is nothing to choose from for {cell}"))
            .hint("give it trainings (`summaries` or `checkpoints`), or the parameters in `overrides`")),
    }
}

/// Writes the ranking to the log: the chosen one, the first few, and all that were excluded.
fn log_ranking(context: &Context, ranking: &Ranking, (chosen, why): &(usize, String)) {
    const SHOWN: usize = 20;
    for (place, candidate) in ranking.ranked.iter().enumerate() {
        if place >= SHOWN && place != *chosen {
            continue;
        }
        let loss = candidate.validation.as_ref().map_or(f64::NAN, |validation| validation.loss);
        let mark = if place == *chosen { format!(" <- {why}") } else { String::new() };
        context.log(format!("{:>4}. {loss:.6}  {}{mark}", place + 1, candidate.label));
    }
    for (candidate, why) in &ranking.excluded {
        context.log(format!("excluded: {} ({why})", candidate.label));
    }
    if let Some(validation) = &ranking.ranked[*chosen].validation {
        context.metric("validation_loss", validation.loss);
    }
}
