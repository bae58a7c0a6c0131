//! Curves of trainings, and the arm that each trained.

use cwm_choices::Chooser;
use cwm_contract::{Failure, GroupInput, Label};
use cwm_measures::{Arm, ModelChoices};
use cwm_page::escape_controls;
use serde::Deserialize;

use crate::papers::json_lines;

/// The curves of one training.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    /// The label of the training.
    pub(crate) label: String,
    /// The arm and the seed, where choices of the model are known.
    pub(crate) arm: Option<(Arm, String)>,
    /// The chooser that used the trained model, where choices of the model are known.
    pub(crate) chooser: Option<Chooser>,
    /// Step, loss and learning rate.
    pub(crate) train: Vec<(u64, f64, Option<f64>)>,
    /// Step, loss and share of best moves.
    pub(crate) validation: Vec<(u64, f64, Option<f64>)>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Line {
    Train {
        step: u64,
        #[serde(deserialize_with = "json_lines::number")]
        loss: Option<f64>,
        #[serde(default, deserialize_with = "json_lines::number")]
        learning_rate: Option<f64>,
    },
    Validation {
        step: u64,
        #[serde(deserialize_with = "json_lines::number")]
        loss: Option<f64>,
        #[serde(default, deserialize_with = "json_lines::number")]
        best: Option<f64>,
    },
}

impl Curve {
    /// Arm and size, with the seed where `seeds` of one arm are shown; otherwise the label.
    pub(crate) fn name(&self, seeds: bool) -> String {
        match &self.arm {
            Some((arm, seed)) if seeds && !seed.is_empty() => {
                escape_controls(&format!("{}, seed {seed}", arm.full_name()))
            }
            Some((arm, _)) => escape_controls(&arm.full_name()),
            None => self.label.clone(),
        }
    }
}

/// Reads all curves, in the order of their arms. A training belongs to the choices whose label has its coordinates, the
/// test set left out.
///
/// # Errors
/// A file cannot be read, or one of its lines cannot be understood.
pub(crate) fn read(inputs: &[GroupInput], runs: &[ModelChoices]) -> Result<Vec<Curve>, Failure> {
    let trained = |label: &str| {
        let label: Label = label.parse().ok()?;
        let is_of = |run: &&ModelChoices| {
            let beside = run.label.coordinates.iter().filter(|(axis, _)| axis != "test");
            beside.eq(label.coordinates.iter())
        };
        runs.iter().find(is_of)
    };
    let mut curves = Vec::new();
    for (label, lines) in json_lines::read::<Line>("curves", inputs)? {
        let run = trained(&label);
        let chooser = run.map(|run| run.chooser.clone());
        let arm = run.map(|run| {
            let arm = Arm::new(&run.chooser.arm(), run.chooser.size.as_deref().unwrap_or_default(), "");
            (arm, run.seed().unwrap_or_default())
        });
        let mut curve = Curve { label, arm, chooser, train: Vec::new(), validation: Vec::new() };
        for line in lines {
            match line {
                Line::Train { step, loss: Some(loss), learning_rate } => curve.train.push((step, loss, learning_rate)),
                Line::Validation { step, loss: Some(loss), best } => curve.validation.push((step, loss, best)),
                Line::Train { .. } | Line::Validation { .. } => {}
            }
        }
        curves.push(curve);
    }
    add_variants(&mut curves);
    curves.sort_by(|one, other| (&one.arm, &one.label).cmp(&(&other.arm, &other.label)));
    Ok(curves)
}

/// Gives trainings that share arm and seed, such as those of a sweep, the coordinates of their labels beyond the seed
/// as variants.
fn add_variants(curves: &mut [Curve]) {
    let arms: Vec<Option<(Arm, String)>> = curves.iter().map(|curve| curve.arm.clone()).collect();
    for curve in curves {
        let alike = arms.iter().filter(|arm| **arm == curve.arm).count();
        let Some((arm, _)) = curve.arm.as_mut().filter(|_| alike > 1) else { continue };
        let variant = match curve.label.parse::<Label>() {
            Ok(label) => {
                let beyond = label.coordinates.iter().filter(|(axis, _)| axis != "seed");
                beyond.map(|(axis, value)| format!("{axis}={value}")).collect::<Vec<_>>().join(", ")
            }
            Err(_) => curve.label.clone(),
        };
        *arm = Arm::new(&arm.name, &arm.size, &variant);
    }
}
