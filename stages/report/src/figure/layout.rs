//! Where everything stands on the sheet.

use std::cell::RefCell;
use std::rc::Rc;

use cwm_contract::Failure;
use plotters::drawing::DrawingArea;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::Axis;
use super::element::Plate;
use super::legend::Legend;
use super::panel::{self, Area, Drawn, EDGE, LABEL, OVERHANG, Place, TICK, TICK_SPACE, TITLE, text_style};
use super::pen::{Ink, Pen};
use super::sheet::{Sheet, UNIT, fitted, text_width};
use super::{Chart, Height, Row};

/// Width of every figure in CSS pixels; a figure across a printed page shows its text at about 7 points.
pub(super) const WIDTH: u32 = 760;
/// Number of the palette's colour that tiles have.
pub(crate) const TILE_COLOUR: usize = 1;

/// In tenths of a pixel: the sheet's margins, the space between plots, and what stands around each.
const MARGIN: u32 = 60;
const ROW_GAP: u32 = 120;
const RIGHT: u32 = OVERHANG as u32 + 40;
const GAP: u32 = 200;
/// The same before a plot with numbers of its own, so that they are not taken for those of the plot before.
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
struct Placed<'a> {
    row: &'a Row,
    top: u32,
    /// Room beside the leftmost plot, and beside the others.
    left: [u32; 2],
    plot: (u32, u32),
    below: u32,
}

impl Chart {
    /// Draws the figure.
    ///
    /// # Errors
    /// The library cannot lay it out, which is a mistake of ours.
    pub(super) fn sheet(&self) -> Result<Sheet, Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::internal(format!("cannot draw {}: {error}", self.id));
        // Plots of rows with as many columns stand under each other.
        let beside = |row: &Row| {
            let like = self.rows.iter().filter(|other| other.columns == row.columns && other.height == row.height);
            like.flat_map(|row| &row.panels).map(|panel| room_beside(&panel.y, sizes(row).0)).max().unwrap_or(0)
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
        let sheet = Rc::new(RefCell::new(Sheet::new(WIDTH * UNIT, height.next_multiple_of(UNIT))));
        let area = Area::from(&sheet);
        placed.iter().try_for_each(|row| draw_row(&area, row)).map_err(|error| failed(&error))?;
        let below = part(&area, (0, top), (WIDTH * UNIT, legend.height()));
        legend.draw(&below).map_err(|error| failed(&error))?;
        drop((area, below));
        let drawn = Rc::try_unwrap(sheet).map_err(|_| failed(&"it is still being drawn"))?;
        Ok(drawn.into_inner())
    }
}

/// Sizes of the text at ticks and of titles.
fn sizes(row: &Row) -> (u32, u32) {
    if row.height == Height::Square { SQUARE_TEXT } else { (TICK, TITLE) }
}

fn heading(row: &Row) -> u32 {
    if row.heading.is_empty() { 0 } else { HEADING }
}

/// Room over a row's plots for their titles.
fn above(row: &Row) -> u32 {
    if row.panels.iter().all(|panel| panel.title.is_empty()) { NO_TITLE } else { PANEL_TITLE }
}

fn room_beside(axis: &Axis, size: u32) -> u32 {
    if !axis.shown {
        return 0;
    }
    let ticks = axis.choose_ticks(6);
    let widest = ticks.iter().map(|(_, text)| text_width(text, f64::from(size), false)).max().unwrap_or(0);
    let label = if axis.label.is_empty() { 0 } else { LABEL_BESIDE };
    (EDGE + widest + TICK_SPACE + label).min(WIDTH * UNIT / 3)
}

fn place(row: &Row, top: u32, beside: u32) -> Placed<'_> {
    let columns = row.columns.max(row.panels.len()).max(1) as u32;
    let shared = row.panels.iter().skip(1).all(|panel| !panel.y.shown);
    let left = [MARGIN + beside, if shared { GAP } else { APART + beside }];
    let width = (WIDTH * UNIT - RIGHT - left[0] - (columns - 1) * left[1]) / columns;
    let plot = match row.height {
        Height::Pixels(height) => (width, height * UNIT),
        Height::Square => (width.min(LARGEST_SQUARE), width.min(LARGEST_SQUARE)),
    };
    let labelled = row.panels.iter().any(|panel| !panel.x.label.is_empty());
    Placed { row, top, left, plot, below: TICKS_BELOW + if labelled { LABEL_BELOW } else { 0 } }
}

fn draw_row(area: &Area, placed: &Placed<'_>) -> Drawn {
    let Placed { row, top, left, plot, below } = placed;
    let (across, title) = (WIDTH * UNIT, text_style(TITLE + 10, Ink::Text, true));
    let key = row.key.as_ref().map_or(0, |most| key_width(most));
    let room = across.saturating_sub(left[0] + RIGHT + key);
    area.draw_text(&fitted(&row.heading, TITLE + 10, true, room), &title, (MARGIN as i32, *top as i32))?;
    if let Some(most) = &row.key {
        draw_key(&part(area, (across - RIGHT - key, *top), (key, HEADING)), most)?;
    }
    let height = above(row) + plot.1 + below;
    let mut x = 0;
    for (index, panel) in row.panels.iter().enumerate() {
        let outside = if index == 0 { MARGIN } else { APART };
        let left = left[usize::from(index > 0)];
        // Its last tick's label may reach into the next panel's room.
        let right = RIGHT.min(across - x - left - plot.0);
        let (tick, title) = sizes(row);
        let place = Place { outside, left, top: above(row), right, bottom: *below, tick, title };
        let size = (left + plot.0 + right, height);
        panel::draw(&part(area, (x, top + heading(row)), size), panel, &place)?;
        x += left + plot.0;
    }
    Ok(())
}

fn key_width(most: &str) -> u32 {
    let texts = text_width("0", f64::from(LABEL), false) + text_width(most, f64::from(LABEL), false);
    texts + KEY_STEPS * KEY_STEP + 2 * TICK_SPACE
}

/// Nothing, rising strengths, the strongest.
fn draw_key(area: &Area, most: &str) -> Drawn {
    let text = text_style(LABEL, Ink::Quiet, false);
    let zero = text_width("0", f64::from(LABEL), false) + TICK_SPACE;
    let middle = KEY_HEIGHT as i32 * 3 / 4;
    area.draw_text("0", &text.pos(Pos::new(HPos::Left, VPos::Center)), (0, middle))?;
    for step in 0..KEY_STEPS {
        let strength = (f64::from(step) + 0.5) / f64::from(KEY_STEPS);
        let left = (zero + step * KEY_STEP) as i32;
        let pen = Pen::of(Ink::Colour(TILE_COLOUR as u8)).at(strength);
        let half = KEY_HEIGHT as i32 / 2;
        let corners = [(left, middle - half), (left + KEY_STEP as i32, middle + half)];
        area.draw(&Plate { corners, pen, note: "" })?;
    }
    let end = (zero + KEY_STEPS * KEY_STEP + TICK_SPACE) as i32;
    area.draw_text(most, &text.pos(Pos::new(HPos::Left, VPos::Center)), (end, middle))
}

fn part(area: &Area, at: (u32, u32), size: (u32, u32)) -> Area {
    let at = (at.0 as i32, at.1 as i32);
    DrawingArea::clone(area).shrink(at, (size.0 as i32, size.1 as i32))
}
