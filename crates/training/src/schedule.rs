//! Learning rates by update (models.md §1.5).

use std::f64::consts::PI;

/// The learning rate after warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The full rate for ever (the paper's sweep).
    Constant,
    /// Half a cosine down to the floor.
    Cosine,
    /// A straight line down to the floor.
    Linear,
}

/// A schedule: linear warm-up, then `shape` until `horizon`, then the floor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// The learning rate after warm-up.
    pub shape: Shape,
    /// The full rate.
    pub rate: f64,
    /// Updates of warm-up, W.
    pub warmup: u64,
    /// Updates after which the floor is reached, D.
    pub horizon: u64,
    /// The floor as a share of the full rate, r.
    pub floor: f64,
}

impl Schedule {
    /// The rate of update `update`, counted from 0. Skipped batches are no updates.
    pub fn at(&self, update: u64) -> f64 {
        if update < self.warmup {
            return self.rate * (update + 1) as f64 / self.warmup as f64;
        }
        let span = self.horizon.saturating_sub(self.warmup).max(1);
        let progress = (update.min(self.horizon).saturating_sub(self.warmup)) as f64 / span as f64;
        let share = match self.shape {
            Shape::Constant => 1.0,
            Shape::Cosine => self.floor + (1.0 - self.floor) * 0.5 * (1.0 + (PI * progress).cos()),
            Shape::Linear => self.floor + (1.0 - self.floor) * (1.0 - progress),
        };
        self.rate * share
    }
}

#[cfg(test)]
mod tests {
    use cwm_contract::testing::shared;

    use super::*;

    #[test]
    fn cosine_and_linear_equal_the_authors_at_every_step() {
        let Some(file) = shared("parity/lr-schedules.json") else { return };
        let golden: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        for (name, shape) in [("cosine", Shape::Cosine), ("linear", Shape::Linear)] {
            let of = &golden[name];
            let schedule = Schedule {
                shape,
                rate: of["lr"].as_f64().unwrap(),
                warmup: of["lr_warmup_steps"].as_u64().unwrap(),
                horizon: of["lr_decay_steps"].as_u64().unwrap(),
                floor: of["lr_min_ratio"].as_f64().unwrap(),
            };
            let rates = of["lr_used_at_step"].as_array().unwrap();
            assert!(rates.len() > 40);
            for (update, rate) in rates.iter().enumerate() {
                let (found, expected) = (schedule.at(update as u64), rate.as_f64().unwrap());
                assert!((found - expected).abs() < 1e-15, "{name} at {update}: {found} where {expected} was expected");
            }
        }
    }

    #[test]
    fn a_constant_schedule_warms_up_and_stays() {
        let schedule = Schedule { shape: Shape::Constant, rate: 2.0, warmup: 4, horizon: 10, floor: 0.0 };
        let rates: Vec<f64> = [0, 1, 3, 4, 10, 1000].map(|update| schedule.at(update)).into();
        assert_eq!(rates, [0.5, 1.0, 2.0, 2.0, 2.0, 2.0]);
    }

    #[test]
    fn a_horizon_within_warm_up_is_no_division_by_zero() {
        let schedule = Schedule { shape: Shape::Cosine, rate: 1.0, warmup: 5, horizon: 5, floor: 0.1 };
        assert!((0..20).all(|update| schedule.at(update).is_finite()));
    }
}
