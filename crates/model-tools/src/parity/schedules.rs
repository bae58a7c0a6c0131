//! Learning rates, update by update.

use std::collections::BTreeMap;

use cwm_contract::Quantity;
use cwm_training::schedule::{Schedule, Shape};
use serde::Deserialize;

use super::error_stats::{ErrorStats, Tolerance};

/// A rate is a few operations in f64.
const TOLERANCE: f64 = 1e-12;

#[derive(Deserialize)]
struct PublishedSchedule {
    lr: f64,
    lr_warmup_steps: u64,
    lr_decay_steps: u64,
    lr_min_ratio: f64,
    lr_used_at_step: Vec<f64>,
}

/// Compares `lr-schedules.json`: by schedule its parameters and the rate that was used at each step.
pub fn compare(text: &[u8]) -> Result<Vec<Quantity>, String> {
    let written: BTreeMap<String, PublishedSchedule> =
        serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let mut quantities = Vec::new();
    for (name, of) in written {
        let shape = match name.as_str() {
            "cosine" => Shape::Cosine,
            "linear" => Shape::Linear,
            "constant" => Shape::Constant,
            _ => return Err(format!("there is no schedule `{name}`; known are cosine, linear, constant")),
        };
        let schedule = Schedule {
            shape,
            rate: of.lr,
            warmup: of.lr_warmup_steps,
            horizon: of.lr_decay_steps,
            floor: of.lr_min_ratio,
        };
        let mut stats = ErrorStats::new(format!("{name}.lr_used_at_step"));
        for (step, &expected) in of.lr_used_at_step.iter().enumerate() {
            let tolerance = Tolerance::relative(TOLERANCE, of.lr.abs());
            stats.compare(schedule.at(step as u64), expected, tolerance, || format!("[{step}]"));
        }
        quantities.push(stats.finish().ok_or_else(|| format!("`{name}.lr_used_at_step` is empty"))?);
    }
    Ok(quantities)
}
