//! The legend: each name once, in rows that fit the width.

use plotters::element::PathElement;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::element::Marker;
use super::panel::{Area, Drawn, LABEL, text_style};
use super::pen::{Ink, Pen};
use super::sheet::{fitted, text_width};
use super::{Chart, Style};

/// In tenths of a pixel: height of a row, width of a sample, space behind an entry.
const ROW: u32 = 220;
const SAMPLE: u32 = 340;
const SPACE: u32 = 180;

struct Entry<'a> {
    name: &'a str,
    /// The name, as far as it fits.
    text: String,
    style: Style,
    /// Whether it has a line and markers.
    joined: bool,
    marked: bool,
    x: u32,
    y: u32,
}

/// A legend that is laid out.
pub(super) struct Legend<'a>(Vec<Entry<'a>>);

impl<'a> Legend<'a> {
    /// Of all series with a name, from `left` to `right`; lighter ones have an entry for all of them.
    pub(super) fn of(chart: &'a Chart, left: u32, right: u32) -> Self {
        let mut entries: Vec<Entry<'a>> = Vec::new();
        let (mut x, mut y) = (left, 0);
        let series = chart
            .panels()
            .flat_map(|panel| panel.series())
            .filter(|series| !series.name.is_empty() && !series.style.light);
        let series = series.map(|series| {
            let marked = series.points.iter().any(|point| !point.note.is_empty());
            (series.name.as_str(), series.style, series.joined, marked)
        });
        let more = chart.legend.iter().map(|entry| (entry.name.as_str(), entry.style, false, true));
        for (name, style, joined, marked) in series.chain(more) {
            if let Some(entry) = entries.iter_mut().find(|entry| entry.name == name) {
                entry.marked |= marked;
                continue;
            }
            let text = fitted(name, LABEL, false, right - left - SAMPLE);
            let width = SAMPLE + text_width(&text, f64::from(LABEL), false) + SPACE;
            if x + width > right + SPACE && x > left {
                (x, y) = (left, y + ROW);
            }
            entries.push(Entry { name, text, style, joined, marked, x, y });
            x += width;
        }
        Legend(entries)
    }

    /// In tenths of a pixel.
    pub(super) fn height(&self) -> u32 {
        self.0.last().map_or(0, |entry| entry.y + ROW)
    }

    pub(super) fn draw(&self, area: &Area) -> Drawn {
        for Entry { text, style, joined, marked, x, y, .. } in &self.0 {
            let (x, y) = (*x as i32, (y + ROW / 2) as i32);
            let sample = SAMPLE as i32 - 80;
            if *joined {
                let width = if style.light { 12 } else { 20 };
                area.draw(&PathElement::new([(x, y), (x + sample, y)], Pen::line(*style).stroke(width)))?;
            }
            if *marked {
                area.draw(&Marker { at: (x + sample / 2, y), style: *style, faint: false, note: "" })?;
            }
            let look = text_style(LABEL, Ink::Text, false).pos(Pos::new(HPos::Left, VPos::Center));
            area.draw_text(text, &look, (x + SAMPLE as i32, y))?;
        }
        Ok(())
    }
}
