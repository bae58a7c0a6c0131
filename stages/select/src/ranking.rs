//! Ranks trainings, best first.

use std::cmp::Ordering;

use cwm_contract::Failure;

use crate::candidate::{Candidate, Validation};

/// Trainings in order of their rank, and those that have none.
pub struct Ranking {
    /// Best first.
    pub ranked: Vec<Candidate>,
    /// The trainings without a rank, with the reason, by label.
    pub excluded: Vec<(Candidate, String)>,
}

impl Ranking {
    /// Ranks `candidates`; `parameters` are compared in this order.
    ///
    /// # Errors
    /// They were not all validated on as much: their losses are not to be compared.
    pub fn of(candidates: Vec<Candidate>, parameters: &[String]) -> Result<Self, Failure> {
        let mut ranking = Ranking { ranked: Vec::new(), excluded: Vec::new() };
        for candidate in candidates {
            match candidate.exclusion_reason() {
                Some(why) => ranking.excluded.push((candidate, why)),
                None => ranking.ranked.push(candidate),
            }
        }
        let extent = |candidate: &Candidate| candidate.validation.as_ref().map(|validation| validation.extent);
        if let [first, rest @ ..] = &ranking.ranked[..]
            && let Some(other) = rest.iter().find(|other| extent(other) != extent(first))
        {
            let [(one, unit), (two, other_unit)] =
                [first, other].map(|candidate| extent(candidate).unwrap_or_default());
            let also = if unit == other_unit { String::new() } else { format!(" {other_unit}") };
            return Err(Failure::input(format!(
                "{} was validated on {one} {unit} and {} on {two}{also}: their losses cannot be compared",
                first.label, other.label
            ))
            .hint(
                "give all trainings of the group the same validation set and `validation_games` or `validation_rows`",
            ));
        }
        ranking.ranked.sort_by(|a, b| order(a, b, parameters));
        ranking.excluded.sort_by(|(a, _), (b, _)| a.label.cmp(&b.label));
        Ok(ranking)
    }
}

/// The lower loss first; of equal ones, in trainings on labels, the higher exact-state accuracy, labelwise accuracy, share of exact
/// trajectories; then the smaller value of each parameter in turn; then the label.
fn order(a: &Candidate, b: &Candidate, parameters: &[String]) -> Ordering {
    let (Some(one), Some(other)) = (&a.validation, &b.validation) else { return a.label.cmp(&b.label) };
    let higher = |of: fn(&Validation) -> Option<f64>| match (of(one), of(other)) {
        (Some(one), Some(other)) => other.total_cmp(&one),
        _ => Ordering::Equal,
    };
    let smaller = |name: &String| match (a.parameters.get(name), b.parameters.get(name)) {
        (Some(one), Some(other)) => one.order(other),
        _ => Ordering::Equal,
    };
    one.loss
        .total_cmp(&other.loss)
        .then_with(|| higher(|validation| validation.exact))
        .then_with(|| higher(|validation| validation.labelwise))
        .then_with(|| higher(|validation| validation.trajectory))
        .then_with(|| parameters.iter().map(smaller).find(|order| order.is_ne()).unwrap_or(Ordering::Equal))
        .then_with(|| a.label.cmp(&b.label))
}
