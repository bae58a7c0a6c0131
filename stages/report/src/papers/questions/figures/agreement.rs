//! Agreement of runs as a heat map.

use cwm_page::{Axis, Figure, Grid, Layer, PanelRow, TILE_COLOUR, Tile, number};

use super::BAR;
use crate::papers::drawing::{panel, row};
use crate::papers::questions::id;
use crate::papers::questions::measured::Measurements;

/// Figure 8.
pub(crate) fn agreement(measured: &Measurements) -> Figure {
    let runs = &measured.runs;
    let last = runs.len();
    let tile = |(one, other): (usize, usize)| {
        let (pair, _) = measured.pair(&runs[one], &runs[other])?;
        let share = pair.agreement as f64 / pair.items.max(1) as f64;
        let names = format!("{} and {}", runs[one].name, runs[other].name);
        let low = (last - 1 - other) as f64;
        Some(Layer::Tile(Tile {
            x: (one as f64, one as f64 + 1.0),
            y: (low, low + 1.0),
            colour: Some(TILE_COLOUR),
            strength: share,
            value: Some(share * 100.0),
            note: format!("{names}: {} % of {}", number::percent(share), number::count(pair.items)),
        }))
    };
    let pairs = (0..last).flat_map(|one| (0..last).map(move |other| (one, other)));
    let tiles: Vec<Layer> = pairs.filter_map(tile).collect();
    // Names fit beside rows alone; columns have their numbers.
    let columns = Axis::of_names("", (1..=last).map(|nth| nth.to_string()));
    let names = runs.iter().enumerate().map(|(at, run)| format!("{} {}", at + 1, run.name));
    let rows = Axis::of_names("", names.rev());
    let panel = panel("", columns, rows, Grid::Bare, tiles);
    let row = row("Both right or both wrong".into(), (BAR * last as u32).max(120), 1, vec![panel]);
    Figure {
        id: id("agreement"),
        title: "Agreement of runs".into(),
        paper: Some("Figure 8, Appendix B"),
        description: "Share of items on which both runs are right or both wrong: the darker, the more.".into(),
        rows: vec![PanelRow { key: Some("100 %".into()), ..row }],
        ..Figure::default()
    }
}
