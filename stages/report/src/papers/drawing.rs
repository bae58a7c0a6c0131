//! Parts of figures that several papers draw.

use cwm_page::{Axis, Grid, Height, Layer, Panel, PanelRow, Tile};

/// A panel with nothing but its axes and layers.
pub(crate) fn panel(title: &str, x: Axis, y: Axis, grid: Grid, layers: Vec<Layer>) -> Panel {
    Panel { title: title.to_owned(), about: None, note: String::new(), x, y, grid, layers }
}

/// A row of panels.
pub(crate) fn row(heading: String, pixels: u32, columns: usize, panels: Vec<Panel>) -> PanelRow {
    PanelRow { heading, key: None, height: Height::Pixels(pixels), columns, panels }
}

/// A bar.
pub(crate) fn bar(x: (f64, f64), y: (f64, f64), colour: usize, value: f64, note: String) -> Layer {
    Layer::Tile(Tile { x, y, colour: Some(colour), strength: 0.7, value: Some(value), note })
}
