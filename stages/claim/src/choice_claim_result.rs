//! The finding on a claim.

use cwm_measures::{Comparison, Estimate};
use serde_json::json;

use crate::claim::{Claim, Side};

/// A claim with both values and their difference, on the same positions.
#[derive(Clone, Debug)]
pub struct ChoiceClaimResult {
    claim: Claim,
    left: Estimate,
    right: Estimate,
    difference: Estimate,
}

impl ChoiceClaimResult {
    /// The finding of the comparison on a claim about the arms at these places; `None` if it has no position for it.
    pub fn of(claim: &Claim, compared: &Comparison, [left, right]: [usize; 2]) -> Option<Self> {
        let sides = [(left, claim.left.measure), (right, claim.right.measure)];
        let counts = |place: usize| {
            let counts = claim.from_ply.is_none_or(|ply| compared.positions[place].t.is_some_and(|t| t >= ply));
            // Both means are over the positions of the difference.
            counts && sides.iter().all(|(arm, measure)| compared.value(*arm, *measure, place).is_some())
        };
        let mean =
            |(arm, measure)| compared.mean(|place| compared.value(arm, measure, place).filter(|_| counts(place)));
        Some(ChoiceClaimResult {
            claim: claim.clone(),
            left: mean(sides[0])?,
            right: mean(sides[1])?,
            difference: compared.difference(sides[0], sides[1], counts)?,
        })
    }

    /// True if the whole interval of the difference is above 0.
    pub fn holds(&self) -> bool {
        self.difference.interval.is_some_and(|(low, _)| low > 0.0)
    }

    /// Both values, the difference and its interval, in a sentence without a full stop.
    pub fn summary(&self) -> String {
        let ChoiceClaimResult { claim, left, right, difference } = self;
        let (unit, of_difference, scale) = match claim.left.measure.is_rate() && claim.right.measure.is_rate() {
            true => (" %", " points", 100.0),
            false => (" nats", " nats", 1.0),
        };
        let interval = match difference.interval {
            Some((low, high)) => format!("95 % interval {:+.2} to {:+.2}", low * scale, high * scale),
            None => "which so few games give no interval".to_owned(),
        };
        format!(
            "`{claim}`: {:.2}{unit} and {:.2}{unit} in {} positions of {} games, a difference of {:+.2}{of_difference}, {interval}",
            left.mean * scale,
            right.mean * scale,
            difference.positions,
            difference.games,
            difference.mean * scale
        )
    }

    /// Returns the result as JSON: shares from 0 to 1, losses in nats.
    pub fn json(&self) -> serde_json::Value {
        let ChoiceClaimResult { claim, left, right, difference } = self;
        let side = |side: &Side, found: &Estimate| json!({"arm": side.arm, "measure": side.measure.name(), "mean": found.mean});
        let (low, high) = difference.interval.unzip();
        json!({
            "claim": claim.to_string(), "left": side(&claim.left, left), "right": side(&claim.right, right),
            "difference": difference.mean, "low": low, "high": high, "confidence": cwm_measures::CONFIDENCE,
            "positions": difference.positions, "games": difference.games,
        })
    }
}
