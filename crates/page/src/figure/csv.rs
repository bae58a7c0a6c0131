//! A figure's points as CSV, for people who draw it anew.

use super::{Figure, Layer, Panel};
use crate::number::plain;
use crate::plain_text::csv;

impl Figure {
    /// A row for each point and each tile with a number, in the order in which they are drawn.
    pub fn csv(&self) -> String {
        let mut text = String::from("row,panel,series,x,y,low,high,value,text\n");
        for (row, place, panel) in self.rows.iter().enumerate().flat_map(|(index, row)| {
            row.panels.iter().enumerate().map(move |(column, panel)| (row, (index, column), panel))
        }) {
            let place = format!("{},{}", csv(&row.heading), csv(self.name_of(place, panel)));
            for layer in &panel.layers {
                match layer {
                    Layer::Series(series) => {
                        for point in &series.points {
                            let (low, high) =
                                point.range.map_or_else(Default::default, |(low, high)| (plain(low), plain(high)));
                            let (x, y) = (plain(point.x), plain(point.y));
                            let (name, note) = (csv(&series.name), csv(&point.note));
                            text += &format!("{place},{name},{x},{y},{low},{high},,{note}\n");
                        }
                    }
                    Layer::Tile(tile) => {
                        if let Some(value) = tile.value {
                            let (x, y) =
                                (plain(f64::midpoint(tile.x.0, tile.x.1)), plain(f64::midpoint(tile.y.0, tile.y.1)));
                            text += &format!("{place},,{x},{y},,,{},{}\n", plain(value), csv(&tile.note));
                        }
                    }
                    Layer::Arrow { .. } | Layer::Text { .. } => {}
                }
            }
        }
        text
    }

    /// Returns the name that distinguishes a panel: its title, else that of a panel above it, else the label of its
    /// vertical axis.
    fn name_of<'a>(&'a self, (row, column): (usize, usize), panel: &'a Panel) -> &'a str {
        let above = self.rows[..row].iter().rev().filter_map(|row| row.panels.get(column));
        let titles = std::iter::once(panel).chain(above).map(|panel| panel.title.as_str());
        titles.chain([panel.y.label.as_str()]).find(|name| !name.is_empty()).unwrap_or_default()
    }
}
