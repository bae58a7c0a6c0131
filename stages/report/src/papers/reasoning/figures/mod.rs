//! The figures.

mod bars;
mod judges;
mod mixtures;
mod predictors;
mod quality;
mod training;

pub(super) use bars::{claims, data_sets, models};
pub(super) use judges::{points, strategies};
pub(super) use mixtures::mixtures;
pub(super) use predictors::predictors;
pub(super) use quality::quality;
pub(super) use training::training;

use cwm_page::{LegendEntry, Style};

use super::measured::Phase;

/// Pixels of a bar with the space beside it.
const BAR: u32 = 18;

/// Panels side by side.
const ABREAST: usize = 2;

/// The colour of a phase.
fn colour(phase: Phase) -> usize {
    match phase {
        Phase::Before => 1,
        Phase::After => 0,
    }
}

/// The legend of the phases' colours.
fn phases() -> Vec<LegendEntry> {
    let entry = |phase: Phase| LegendEntry { name: phase.name().to_owned(), style: Style::solid(colour(phase)) };
    [Phase::Before, Phase::After].map(entry).into()
}
