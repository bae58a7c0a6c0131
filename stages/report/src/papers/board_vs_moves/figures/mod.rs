//! The figures.

mod by_ply;
mod exposure;
mod learning;
mod legal_moves;
mod levels;

pub(crate) use by_ply::by_ply;
pub(crate) use exposure::exposure;
pub(crate) use learning::{curves, masks};
pub(crate) use legal_moves::legal_moves;
pub(crate) use levels::levels;

use cwm_page::{COLOURS, DASHES, Grid, Height, Layer, Panel, PanelRow, Style, Tile};

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

/// A panel with nothing but its axes and layers.
fn panel(title: &str, x: cwm_page::Axis, y: cwm_page::Axis, grid: Grid, layers: Vec<Layer>) -> Panel {
    Panel { title: title.to_owned(), about: None, note: String::new(), x, y, grid, layers }
}

/// A row of panels.
fn row(heading: String, pixels: u32, columns: usize, panels: Vec<Panel>) -> PanelRow {
    PanelRow { heading, key: None, height: Height::Pixels(pixels), columns, panels }
}

/// A bar.
fn bar(x: (f64, f64), y: (f64, f64), colour: usize, value: f64, note: String) -> Layer {
    Layer::Tile(Tile { x, y, colour: Some(colour), strength: 0.7, value: Some(value), note })
}
