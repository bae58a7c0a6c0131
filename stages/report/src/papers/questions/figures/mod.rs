//! The figures.

mod agreement;
mod bars;
mod items;
mod scatter;
mod verdicts;

pub(super) use agreement::agreement;
pub(super) use bars::{accuracy, tokens};
pub(super) use items::items;
pub(super) use scatter::{cost_and_accuracy, tokens_and_accuracy};
pub(super) use verdicts::verdicts;

/// Pixels of a bar with the space beside it.
const BAR: u32 = 18;
