//! Measures of choices of moves: rates and losses of arms on the same positions, their differences, and intervals.
//! Measures of graded answers of runs to the same items.
//!
//! An arm is what is compared: a form of input with a mask, at one size, over all of its seeds. This crate is apart from
//! the format `choices`, so that a change of a measure does not run `choose` again. It must not depend on chess, models, or
//! which arms there are.

mod arm;
mod comparison;
mod graded;
mod measure;
mod model_choices;
mod resamples;

pub use arm::{Arm, by_arm};
pub use comparison::{ArmChoices, Comparison, SharedPosition};
pub use graded::{GradeMeasure, GradedRuns, Resampling};
pub use measure::Measure;
pub use model_choices::ModelChoices;
pub use resamples::{CONFIDENCE, Estimate, Resamples};

#[cfg(test)]
mod tests;
