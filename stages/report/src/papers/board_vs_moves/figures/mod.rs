//! The figures.

mod by_ply;
mod exposure;
mod learning;
mod legal_moves;
mod levels;

pub(crate) use crate::papers::drawing::{bar, panel, row};
pub(crate) use by_ply::by_ply;
pub(crate) use exposure::exposure;
pub(crate) use learning::{curves, masks};
pub(crate) use legal_moves::legal_moves;
pub(crate) use levels::levels;

use cwm_page::{COLOURS, DASHES, Style};

/// The arms that have a colour of their own in every figure.
const ARMS: [&str; 5] = ["board/none", "board/causal", "moves/causal", "prompt/causal", "characters/causal"];

/// The style of an arm that is the `nth` of its figure: a colour for each arm, dashes for its further sizes.
fn style(name: &str, nth: usize) -> Style {
    let known = ARMS.iter().position(|arm| *arm == name);
    let colour = known.unwrap_or(ARMS.len() + nth % (COLOURS - ARMS.len()));
    Style { dash: nth % DASHES, ..Style::solid(colour) }
}

/// Styles of these arms in their order: of one name the first is solid.
fn styles<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Style> {
    let mut before: Vec<&str> = Vec::new();
    let style = |name: &'a str| {
        let nth = match ARMS.contains(&name) {
            true => before.iter().filter(|other| **other == name).count(),
            false => before.iter().filter(|other| !ARMS.contains(other)).count(),
        };
        before.push(name);
        style(name, nth)
    };
    names.map(style).collect()
}
