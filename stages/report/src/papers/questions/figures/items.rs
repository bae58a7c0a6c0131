//! Items by task.

use cwm_page::{Axis, Figure, Grid, TILE_COLOUR, number};

use super::BAR;
use crate::papers::drawing::{bar, panel, row};
use crate::papers::questions::id;
use crate::papers::questions::measured::Measurements;

/// Figure 2.
pub(crate) fn items(measured: &Measurements) -> Figure {
    let most = measured.items.iter().map(|(_, count)| count.items as f64);
    let axis = Axis::linear("Items", most.chain([0.0]));
    let rows = measured.categories().into_iter().map(|category| {
        let tasks: Vec<_> = measured.items.iter().filter(|(_, count)| count.category == category).collect();
        let bars = tasks.iter().rev().enumerate().map(|(place, (_, count))| {
            let note = format!("{}: {}", count.task, number::count(count.items));
            let items = count.items as f64;
            bar((0.0, items), (place as f64 + 0.12, place as f64 + 0.88), TILE_COLOUR, items, note)
        });
        let names = Axis::of_names("", tasks.iter().rev().map(|(_, count)| count.task.clone()));
        let panel = panel("", axis.clone(), names, Grid::Vertical, bars.collect());
        row(category, BAR * tasks.len() as u32, 1, vec![panel])
    });
    Figure {
        id: id("items"),
        title: "Items by task".into(),
        paper: Some("Figure 2, Section 3"),
        description: "The number of items of each task, by category.".into(),
        rows: rows.collect(),
        ..Figure::default()
    }
}
