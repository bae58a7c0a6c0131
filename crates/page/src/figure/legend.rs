//! The legend: each name once, in rows that fit the width.

use super::canvas::{Anchor, TextStyle, VectorCanvas, VerticalAnchor, fitted, text_width};
use super::paint::{ColourRole, Paint};
use super::panel::LABEL;
use super::{Figure, Style};

/// Height of a row, width of a sample, space behind an entry, in tenths of a pixel.
const ROW: u32 = 220;
const SAMPLE: u32 = 340;
const SPACE: u32 = 180;

struct Entry<'a> {
    name: &'a str,
    /// The name, as far as it fits.
    text: String,
    style: Style,
    /// True if it has a line and markers.
    joined: bool,
    marked: bool,
    x: u32,
    y: u32,
}

/// A legend that is laid out.
pub(super) struct Legend<'a>(Vec<Entry<'a>>);

impl<'a> Legend<'a> {
    /// Lays out all series with a name, from `left` to `right`; one entry stands for all lighter ones.
    pub(super) fn of(figure: &'a Figure, left: u32, right: u32) -> Self {
        let mut entries: Vec<Entry<'a>> = Vec::new();
        let (mut x, mut y) = (left, 0);
        let series = figure
            .panels()
            .flat_map(|panel| panel.series())
            .filter(|series| !series.name.is_empty() && !series.style.light);
        let series = series.map(|series| {
            let marked = series.points.iter().any(|point| !point.note.is_empty());
            (series.name.as_str(), series.style, series.joined, marked)
        });
        let more = figure.legend.iter().map(|entry| (entry.name.as_str(), entry.style, false, true));
        for (name, style, joined, marked) in series.chain(more) {
            if let Some(entry) = entries.iter_mut().find(|entry| entry.name == name) {
                entry.marked |= marked;
                continue;
            }
            let text = fitted(name, LABEL, false, right - left - SAMPLE);
            let width = SAMPLE + text_width(&text, LABEL, false) + SPACE;
            if x + width > right + SPACE && x > left {
                (x, y) = (left, y + ROW);
            }
            entries.push(Entry { name, text, style, joined, marked, x, y });
            x += width;
        }
        Legend(entries)
    }

    /// Returns its height in tenths of a pixel.
    pub(super) fn height(&self) -> u32 {
        self.0.last().map_or(0, |entry| entry.y + ROW)
    }

    /// Draws it below `top`.
    pub(super) fn draw(&self, canvas: &mut VectorCanvas, top: u32) {
        for Entry { text, style, joined, marked, x, y, .. } in &self.0 {
            let (x, y) = (*x as i32, (top + y + ROW / 2) as i32);
            let sample = SAMPLE as i32 - 80;
            if *joined {
                let width = if style.light { 12 } else { 20 };
                canvas.line([(x, y), (x + sample, y)], Paint::line(*style), width);
            }
            if *marked {
                canvas.marker((x + sample / 2, y), *style, false, "");
            }
            let look = TextStyle::new(LABEL, ColourRole::Text).anchored(Anchor::Start, VerticalAnchor::Middle);
            canvas.text(text, look, (x + SAMPLE as i32, y));
        }
    }
}
