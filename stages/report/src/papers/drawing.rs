//! Parts of figures that several papers draw.

use cwm_page::{Axis, Grid, Height, Layer, Panel, PanelRow, Tile, number};

/// A panel with nothing but its axes and layers.
pub(crate) fn panel(title: &str, x: Axis, y: Axis, grid: Grid, layers: Vec<Layer>) -> Panel {
    Panel { title: title.to_owned(), marker: None, note: String::new(), x, y, grid, layers }
}

/// A row of panels.
pub(crate) fn row(heading: String, pixels: u32, columns: usize, panels: Vec<Panel>) -> PanelRow {
    PanelRow { heading, key: None, height: Height::Pixels(pixels), columns, panels }
}

/// A bar.
pub(crate) fn bar(x: (f64, f64), y: (f64, f64), colour: usize, value: f64, note: String) -> Layer {
    Layer::Tile(Tile { x, y, colour: Some(colour), strength: 0.7, value: Some(value), note })
}

/// A panel of stacked bars in percent, one for each name; each of `parts` is a word and a colour.
pub(crate) fn stacked(title: &str, axis: &str, parts: &[(&str, usize)], bars: &[(String, Vec<u64>)]) -> Panel {
    let layers = bars.iter().rev().enumerate().flat_map(|(place, (name, counts))| {
        let all: u64 = counts.iter().sum();
        let mut from = 0.0;
        let part = |((words, colour), count): (&(&str, usize), &u64)| {
            let share = *count as f64 / all.max(1) as f64;
            let x = (from, from + share * 100.0);
            from = x.1;
            let note = format!("{name}: {} % {words}, {count} of {all}", number::percent(share));
            bar(x, (place as f64 + 0.12, place as f64 + 0.88), *colour, share * 100.0, note)
        };
        parts.iter().zip(counts).map(part).collect::<Vec<Layer>>()
    });
    let names = Axis::of_names("", bars.iter().rev().map(|(name, _)| name.clone()));
    panel(title, Axis::up_to(axis, 100.0), names, Grid::Vertical, layers.collect())
}
