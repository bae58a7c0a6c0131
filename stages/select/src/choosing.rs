//! Chooses one of the ranked trainings: the best, or the one that was chosen by hand.

use std::collections::BTreeMap;

use cwm_contract::{Failure, Value};

use crate::config::RANK;
use crate::ranking::Ranking;
use crate::scalar::Scalar;

/// A choice by hand.
pub enum ManualChoice {
    /// The training of this rank, from 1.
    Rank(usize),
    /// The best of those with these parameters.
    Parameters(BTreeMap<String, Scalar>),
}

impl ManualChoice {
    /// Reads an entry of the parameter `overrides`, which was checked.
    pub fn read(entry: &BTreeMap<String, Value>) -> Self {
        match entry.get(RANK) {
            Some(Value::Int(rank)) => ManualChoice::Rank(usize::try_from(*rank).unwrap_or(usize::MAX)),
            _ => {
                let scalars = entry.iter().filter_map(|(name, value)| Some((name.clone(), Scalar::of(value)?)));
                ManualChoice::Parameters(scalars.collect())
            }
        }
    }
}

/// Returns the place of the chosen one among the ranked, and the reason. `cell` is its family and size, for messages.
///
/// # Errors
/// There is none: all are excluded, or what was chosen by hand is not among them.
pub fn choose(cell: &str, ranking: &Ranking, by_hand: Option<&ManualChoice>) -> Result<(usize, String), Failure> {
    let ranked = &ranking.ranked;
    match by_hand {
        None if ranked.is_empty() => {
            let excluded: Vec<_> = ranking.excluded.iter().map(|(one, why)| format!("{} ({why})", one.label)).collect();
            Err(Failure::input(format!("none of the trainings of {cell} can be chosen: {}", first_few(&excluded)))
                .hint("give it trainings that end well, or other hyper-parameters to try"))
        }
        None => Ok((0, "best".to_owned())),
        Some(ManualChoice::Rank(rank)) if *rank > ranked.len() => Err(Failure::input(format!(
            "`overrides` takes the training of rank {rank} for {cell}, and only {} of {} have a rank",
            ranked.len(),
            ranked.len() + ranking.excluded.len()
        ))),
        Some(ManualChoice::Rank(rank)) => Ok((rank - 1, format!("override: rank {rank}"))),
        Some(ManualChoice::Parameters(wanted)) => {
            let described = describe(wanted);
            let has = |parameters: &BTreeMap<String, Scalar>| {
                wanted.iter().all(|(name, value)| parameters.get(name) == Some(value))
            };
            if let Some(place) = ranked.iter().position(|candidate| has(&candidate.parameters)) {
                return Ok((place, format!("override: {described}")));
            }
            let excluded = ranking.excluded.iter().find(|(candidate, _)| has(&candidate.parameters));
            Err(match excluded {
                Some((candidate, why)) => Failure::input(format!(
                    "`overrides` takes {described} for {cell}, and {} was excluded: {why}",
                    candidate.label
                )),
                None => Failure::input(format!("`overrides` takes {described} for {cell}, and no training has these"))
                    .hint("they must be hyper-parameters that `parameters` names, and of one of the trainings"),
            })
        }
    }
}

/// `beta2 0.99, lr 0.001`.
pub fn describe(parameters: &BTreeMap<String, Scalar>) -> String {
    parameters.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}

/// The first few of `all`, and how many more there are.
fn first_few(all: &[String]) -> String {
    const SHOWN: usize = 5;
    match all.len().checked_sub(SHOWN) {
        None | Some(0) => all.join(", "),
        Some(more) => format!("{}, and {more} more", all[..SHOWN].join(", ")),
    }
}
