//! Computes the places of all parts on the canvas.

use super::axis::Axis;
use super::canvas::{Anchor, Coordinate, TextStyle, UNIT, VectorCanvas, VerticalAnchor, fitted, text_width};
use super::legend::Legend;
use super::paint::{ColourRole, Paint};
use super::panel::{self, EDGE, LABEL, OVERHANG, Place, TICK, TICK_SPACE, TITLE};
use super::{Figure, Height, PanelRow};

/// Width of every figure in CSS pixels; a figure across a printed page shows its text at about 7 points.
pub(super) const WIDTH: u32 = 760;
/// Number of the palette's colour that tiles have.
pub const TILE_COLOUR: usize = 1;

/// The canvas' margins, the space between plots, and what stands around each, in tenths of a pixel.
const MARGIN: u32 = 60;
const ROW_GAP: u32 = 120;
const RIGHT: u32 = OVERHANG as u32 + 40;
const GAP: u32 = 200;
/// The space before a plot with numbers of its own, so that they are not taken for those of the plot before.
const APART: u32 = 260;
const HEADING: u32 = 280;
const PANEL_TITLE: u32 = 300;
const NO_TITLE: u32 = 60;
const TICKS_BELOW: u32 = 240;
const LABEL_BELOW: u32 = 210;
const LABEL_BESIDE: u32 = 190;
/// Width of a square plot at most, and the sizes of its text.
const LARGEST_SQUARE: u32 = 1500;
const SQUARE_TEXT: (u32, u32) = (85, 100);
/// The colour key: its steps and the size of each.
const KEY_STEPS: u32 = 24;
const KEY_STEP: u32 = 50;
const KEY_HEIGHT: u32 = 90;

/// A row's place.
struct PlacedRow<'a> {
    row: &'a PanelRow,
    top: u32,
    /// Room beside the leftmost plot, and beside the others.
    left: [u32; 2],
    plot: (u32, u32),
    below: u32,
}

impl Figure {
    /// Draws the figure.
    pub(super) fn draw(&self) -> VectorCanvas {
        // Plots of rows with as many columns stand under each other.
        let beside = |row: &PanelRow| {
            let like = self.rows.iter().filter(|other| other.columns == row.columns && other.height == row.height);
            like.flat_map(|row| &row.panels).map(|panel| width_of_labels(&panel.y, sizes(row).0)).max().unwrap_or(0)
        };
        let mut top = MARGIN;
        let mut placed = Vec::new();
        for row in &self.rows {
            let place = place(row, top, beside(row));
            top += heading(row) + above(row) + place.plot.1 + place.below + ROW_GAP;
            placed.push(place);
        }
        let left = placed.first().map_or(0, |row| row.left[0]);
        let legend = Legend::of(self, left.min(700), WIDTH * UNIT - MARGIN);
        let height = top + legend.height() + MARGIN;
        let mut canvas = VectorCanvas::new(WIDTH * UNIT, height.next_multiple_of(UNIT));
        for row in &placed {
            draw_row(&mut canvas, row);
        }
        legend.draw(&mut canvas, top);
        canvas
    }
}

/// Sizes of the text at ticks and of titles.
fn sizes(row: &PanelRow) -> (u32, u32) {
    if row.height == Height::Square { SQUARE_TEXT } else { (TICK, TITLE) }
}

fn heading(row: &PanelRow) -> u32 {
    if row.heading.is_empty() { 0 } else { HEADING }
}

/// Room over a row's plots for their titles.
fn above(row: &PanelRow) -> u32 {
    if row.panels.iter().all(|panel| panel.title.is_empty()) { NO_TITLE } else { PANEL_TITLE }
}

fn width_of_labels(axis: &Axis, size: u32) -> u32 {
    if !axis.shown {
        return 0;
    }
    let ticks = axis.choose_ticks(6);
    let widest = ticks.iter().map(|(_, text)| text_width(text, size, false)).max().unwrap_or(0);
    let label = if axis.label.is_empty() { 0 } else { LABEL_BESIDE };
    (EDGE + widest + TICK_SPACE + label).min(WIDTH * UNIT / 3)
}

fn place(row: &PanelRow, top: u32, beside: u32) -> PlacedRow<'_> {
    let columns = row.columns.max(row.panels.len()).max(1) as u32;
    let shared = row.panels.iter().skip(1).all(|panel| !panel.y.shown);
    let left = [MARGIN + beside, if shared { GAP } else { APART + beside }];
    let width = (WIDTH * UNIT - RIGHT - left[0] - (columns - 1) * left[1]) / columns;
    let plot = match row.height {
        Height::Pixels(height) => (width, height * UNIT),
        Height::Square => (width.min(LARGEST_SQUARE), width.min(LARGEST_SQUARE)),
    };
    let labelled = row.panels.iter().any(|panel| !panel.x.label.is_empty());
    PlacedRow { row, top, left, plot, below: TICKS_BELOW + if labelled { LABEL_BELOW } else { 0 } }
}

fn draw_row(canvas: &mut VectorCanvas, placed: &PlacedRow<'_>) {
    let PlacedRow { row, top, left, plot, below } = placed;
    let across = WIDTH * UNIT;
    let key = row.key.as_ref().map_or(0, |most| key_width(most));
    let room = across.saturating_sub(left[0] + RIGHT + key);
    let heading_text = fitted(&row.heading, TITLE + 10, true, room);
    canvas.text(&heading_text, TextStyle::new(TITLE + 10, ColourRole::Text).bold(), (MARGIN as i32, *top as i32));
    if let Some(most) = &row.key {
        draw_key(canvas, ((across - RIGHT - key) as i32, *top as i32), most);
    }
    let top = top + heading(row) + above(row);
    let mut x = 0;
    for (index, panel) in row.panels.iter().enumerate() {
        let outside = x + if index == 0 { MARGIN } else { APART };
        let left = x + left[usize::from(index > 0)];
        let (tick, title) = sizes(row);
        let place =
            Place { outside, left, top, width: plot.0, height: plot.1, above: above(row), below: *below, tick, title };
        panel::draw(canvas, panel, &place);
        x = left + plot.0;
    }
}

fn key_width(most: &str) -> u32 {
    text_width("0", LABEL, false) + text_width(most, LABEL, false) + KEY_STEPS * KEY_STEP + 2 * TICK_SPACE
}

/// Nothing, rising strengths, the strongest.
fn draw_key(canvas: &mut VectorCanvas, (left, top): Coordinate, most: &str) {
    let text = TextStyle::new(LABEL, ColourRole::Quiet).anchored(Anchor::Start, VerticalAnchor::Middle);
    let first = left + (text_width("0", LABEL, false) + TICK_SPACE) as i32;
    let (middle, half) = (top + KEY_HEIGHT as i32 * 3 / 4, KEY_HEIGHT as i32 / 2);
    canvas.text("0", text, (left, middle));
    for step in 0..KEY_STEPS {
        let strength = (f64::from(step) + 0.5) / f64::from(KEY_STEPS);
        let paint = Paint::of(ColourRole::Series(TILE_COLOUR as u8)).with_opacity(strength);
        let left = first + (step * KEY_STEP) as i32;
        canvas.fill_rect((left, middle - half), (left + KEY_STEP as i32, middle + half), paint, "");
    }
    let end = first + (KEY_STEPS * KEY_STEP + TICK_SPACE) as i32;
    canvas.text(most, text, (end, middle));
}
