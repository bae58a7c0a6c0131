//! The figures.

mod boards;
mod composition;
mod groups;
mod lines;
mod violins;

pub(super) use boards::{accuracy_squares, cases, squares};
pub(super) use composition::composition;
pub(super) use lines::{accuracy, eta, layers};
pub(super) use violins::{latents, probes};

use cwm_page::COLOURS;

/// The interventions in the order of their colours.
const INTERVENTIONS: [&str; 6] = ["none", "random", "patch", "probe", "sae_probe", "cd_probe"];

/// The colour of an intervention, which may be followed by a comma and its layers, or that of the `nth` other name.
fn colour(name: &str, nth: usize) -> usize {
    let first = name.split(", ").next();
    INTERVENTIONS.iter().position(|known| Some(*known) == first).unwrap_or(nth) % COLOURS
}
