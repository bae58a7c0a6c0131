//! One panel: its axes and grid, then the layers.

use super::axis::Axis;
use super::canvas::{Anchor, Coordinate, TextStyle, VectorCanvas, VerticalAnchor, fitted, text_width};
use super::marker::RADIUS;
use super::paint::{ColourRole, Paint};
use super::{Grid, Layer, Panel, Point, Series, Style};

/// Sizes of text, in tenths of a pixel.
pub(super) const TITLE: u32 = 130;
pub(super) const LABEL: u32 = 120;
pub(super) const TICK: u32 = 115;
/// Markers of one line that are closer than this are drawn faint, or they would hide the line and each other.
const MARKER_GAP: i32 = 150;
/// A reader cannot point at one of two markers that are closer than this: the second is left out.
const TARGET_GAP: i32 = 90;
/// Room between the labels of neighbouring ticks.
const TICK_GAP: i32 = 80;
/// The distance that the last tick's label may reach beyond the plot.
pub(super) const OVERHANG: i32 = 160;

/// The opacity of a band and its edges.
const BAND: f64 = 0.24;
const BAND_EDGE: f64 = 0.6;

/// Width of the lines of axes, ticks and grid.
const LINE: u32 = 10;
/// Labels are this far from their axis.
pub(super) const TICK_SPACE: u32 = 90;
/// Space before the vertical axis's label.
pub(super) const EDGE: u32 = 40;

/// The place of a plot on the canvas, in tenths of a pixel.
pub(super) struct Place {
    /// The left end of its own room: left of it is the plot before, or the canvas' margin.
    pub(super) outside: u32,
    pub(super) left: u32,
    pub(super) top: u32,
    pub(super) width: u32,
    pub(super) height: u32,
    /// Room above it for the title, and below it for ticks and label.
    pub(super) above: u32,
    pub(super) below: u32,
    /// Sizes of text.
    pub(super) tick: u32,
    pub(super) title: u32,
}

/// A panel with the coordinates of its axes' ends.
struct Plot<'a> {
    panel: &'a Panel,
    x: (i32, i32),
    y: (i32, i32),
}

impl Plot<'_> {
    /// Returns the place of a point, as far as the axes go; `None` if it has none on them.
    fn at(&self, (x, y): (f64, f64)) -> Option<Coordinate> {
        Some((
            self.panel.x.coordinate(self.panel.x.place(x)?, self.x),
            self.panel.y.coordinate(self.panel.y.place(y)?, self.y),
        ))
    }
}

/// Draws the panel.
pub(super) fn draw(canvas: &mut VectorCanvas, panel: &Panel, place: &Place) {
    let (left, top) = (place.left as i32, place.top as i32);
    let (right, bottom) = (left + place.width as i32 - 1, top + place.height as i32 - 1);
    let plot = Plot { panel, x: (left, right), y: (bottom, top) };
    draw_axes(canvas, &plot, place);
    for layer in &panel.layers {
        match layer {
            Layer::Series(series) => draw_series(canvas, &plot, series),
            Layer::Arrow { from, to, style } => {
                if let (Some(from), Some(to)) = (plot.at(*from), plot.at(*to)) {
                    canvas.arrow(from, to, *style);
                }
            }
            Layer::Tile(tile) => {
                let role = tile.colour.map_or(ColourRole::Rule, |number| ColourRole::of_series(Some(number)));
                let paint = Paint::of(role).with_opacity(tile.strength.clamp(0.0, 1.0));
                if let (Some(low), Some(high)) = (plot.at((tile.x.0, tile.y.0)), plot.at((tile.x.1, tile.y.1))) {
                    canvas.fill_rect(low, high, paint, &tile.note);
                }
            }
            Layer::Text { at, text } => {
                let style = TextStyle::new(LABEL, ColourRole::Text).anchored(Anchor::Middle, VerticalAnchor::Middle);
                if let Some(at) = plot.at(*at) {
                    canvas.text(text, style, at);
                }
            }
        }
    }
    let (mut title_left, baseline) = (left, top - 90);
    if let (Some(style), false) = (panel.marker, panel.title.is_empty()) {
        canvas.marker((left + RADIUS, baseline - place.title as i32 / 3), style, false, "");
        title_left += 3 * RADIUS;
    }
    let room = left + place.width as i32 + OVERHANG - title_left;
    let title = fitted(&panel.title, place.title, true, room.max(0) as u32);
    let title_top = (baseline - place.title as i32 * 3 / 4).max(top - place.above as i32);
    canvas.text(&title, TextStyle::new(place.title, ColourRole::Text).bold(), (title_left, title_top));
    let note = TextStyle::new(TICK, ColourRole::Quiet).anchored(Anchor::End, VerticalAnchor::Top);
    canvas.text(&fitted(&panel.note, TICK, false, place.width), note, (right + 1, top + 40));
}

/// Draws the labels of both axes and the grid, then the vertical and the horizontal axis, each with its ticks and their labels.
fn draw_axes(canvas: &mut VectorCanvas, plot: &Plot<'_>, place: &Place) {
    let Plot { panel, x: (left, right), y: (bottom, top) } = *plot;
    let x_ticks = fitting(&panel.x, place.tick, place.width as i32);
    let x_ticks: Vec<(i32, String)> =
        x_ticks.into_iter().map(|(value, text)| (panel.x.coordinate(value, plot.x), text)).collect();
    let y_ticks = panel.y.choose_ticks((place.height / 250).clamp(2, 8) as usize);
    let y_ticks: Vec<(i32, String)> =
        y_ticks.into_iter().map(|(value, text)| (panel.y.coordinate(value, plot.y), text)).collect();
    let label = TextStyle::new(LABEL, ColourRole::Quiet);
    if panel.y.shown && !panel.y.label.is_empty() {
        let style = TextStyle { upwards: true, ..label.anchored(Anchor::Middle, VerticalAnchor::Top) };
        canvas.text(&panel.y.label, style, ((place.outside + EDGE) as i32, top + place.height as i32 / 2));
    }
    if panel.x.shown && !panel.x.label.is_empty() {
        let style = label.anchored(Anchor::Middle, VerticalAnchor::Bottom);
        canvas.text(&panel.x.label, style, (left + place.width as i32 / 2, bottom + 1 + place.below as i32));
    }
    let (rule, axis) = (Paint::of(ColourRole::Rule), Paint::of(ColourRole::Quiet));
    if matches!(panel.grid, Grid::Both | Grid::Vertical) {
        x_ticks.iter().for_each(|(x, _)| canvas.line([(*x, bottom), (*x, top)], rule, LINE));
    }
    if matches!(panel.grid, Grid::Both | Grid::Horizontal) {
        y_ticks.iter().for_each(|(y, _)| canvas.line([(left, *y), (right, *y)], rule, LINE));
    }
    let tick = if panel.grid == Grid::Bare { 15 } else { 40 };
    let text = TextStyle::new(place.tick, ColourRole::Quiet);
    if panel.y.shown {
        let x = left - 1;
        let room = place.left.saturating_sub(place.outside + EDGE + TICK_SPACE);
        canvas.line([(x, top), (x, bottom)], axis, LINE);
        for (y, name) in &y_ticks {
            let style = text.anchored(Anchor::End, VerticalAnchor::Middle);
            canvas.text(&fitted(name, place.tick, false, room), style, (left - 2 * tick, *y));
            canvas.line([(x - tick, *y), (x, *y)], axis, LINE);
        }
    }
    if panel.x.shown {
        let y = bottom + 1;
        canvas.line([(left, y), (right, y)], axis, LINE);
        for (x, name) in &x_ticks {
            canvas.text(name, text.anchored(Anchor::Middle, VerticalAnchor::Top), (*x, y + 2 * tick));
            canvas.line([(*x, y), (*x, y + tick)], axis, LINE);
        }
    }
}

fn draw_series(canvas: &mut VectorCanvas, plot: &Plot<'_>, series: &Series) {
    let style = series.style;
    let at = |point: &Point| plot.at((point.x, point.y));
    if series.joined {
        // Stretches between points that have no place.
        for stretch in series.points.split(|point| at(point).is_none()) {
            let places: Vec<Coordinate> = stretch.iter().filter_map(at).collect();
            if places.len() > 1 {
                draw_band(canvas, plot, stretch, style);
                canvas.line(places, Paint::line(style), if style.light { 12 } else { 20 });
            }
        }
    } else {
        for (point, (low, high)) in series.points.iter().filter_map(|point| Some((point, point.range?))) {
            // By factors a lower end that is not positive has no place: the bar begins where the axis does.
            let low = if low.is_nan() { low } else { low.max(plot.panel.y.low) };
            if let [Some(low), Some(high)] = [low, high].map(|end| plot.at((point.x, end))) {
                canvas.line([low, high], Paint::line(style), 12);
            }
        }
    }
    // Where the last marker is, and where the last one of any kind.
    let (mut last, mut target) = (i32::MIN / 2, i32::MIN / 2);
    for point in series.points.iter().filter(|point| !point.note.is_empty()) {
        let Some((x, y)) = at(point) else { continue };
        if series.joined && x - target < TARGET_GAP {
            continue;
        }
        let faint = series.joined && x - last < MARKER_GAP;
        (last, target) = (if faint { last } else { x }, x);
        canvas.marker((x, y), style, faint, &point.note);
    }
}

/// Draws the band around a stretch of a line.
fn draw_band(canvas: &mut VectorCanvas, plot: &Plot<'_>, stretch: &[Point], style: Style) {
    if stretch.iter().all(|point| point.range.is_none()) {
        return;
    }
    let edge = |point: &Point, end: fn((f64, f64)) -> f64| plot.at((point.x, point.range.map_or(point.y, end)));
    let upper: Vec<Coordinate> = stretch.iter().filter_map(|point| edge(point, |range| range.1)).collect();
    let lower: Vec<Coordinate> = stretch.iter().rev().filter_map(|point| edge(point, |range| range.0)).collect();
    let paint = Paint::of(ColourRole::of_series(style.colour));
    canvas.fill(upper.iter().chain(&lower).copied(), paint.with_opacity(BAND));
    // Its edges, so that a narrow band is more than a shadow of its line, also in print.
    for edge in [upper, lower] {
        canvas.line(edge, paint.with_opacity(BAND_EDGE), 6);
    }
}

/// Returns as many ticks of a horizontal axis as have room for their labels.
fn fitting(axis: &Axis, size: u32, width: i32) -> Vec<(f64, String)> {
    let half = |text: &str| text_width(text, size, false) as i32 / 2;
    let fits = |ticks: &[(f64, String)]| {
        let ends: Vec<(i32, i32)> = ticks
            .iter()
            .map(|(value, text)| (axis.coordinate(*value, (0, width)), half(text)))
            .map(|(at, half)| (at - half, at + half))
            .collect();
        ends.windows(2).all(|pair| pair[0].1 + TICK_GAP <= pair[1].0)
            && ends.last().is_none_or(|(_, end)| *end <= width + OVERHANG)
    };
    let choices = (2..=10).rev().map(|most| axis.choose_ticks(most));
    let names = !axis.ticks.is_empty();
    choices.into_iter().find(|ticks| names || fits(ticks)).unwrap_or_default()
}
