//! One panel: plotters' axes and grid, then the layers.

use std::convert::Infallible;

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::ranged1d::Ranged;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind};
use plotters::element::{PathElement, Polygon};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, IntoFont, TextStyle};

use super::axis::{Axis, Coordinate};
use super::element::{Arrow, Marker, Plate, RADIUS};
use super::pen::{Ink, Pen, ink};
use super::sheet::{Sheet, fitted, text_width};
use super::{Grid, Layer, Panel, Point, Series, Style};

pub(super) type Area = DrawingArea<Sheet, Shift>;
pub(super) type Drawn = Result<(), DrawingAreaErrorKind<Infallible>>;

/// Sizes of text, in tenths of a pixel.
pub(super) const TITLE: u32 = 130;
pub(super) const LABEL: u32 = 120;
pub(super) const TICK: u32 = 115;
/// Markers of one line that are closer than this are drawn faint, or they would hide the line and each other.
const MARKER_GAP: i32 = 150;
/// Nobody can point at one of two that are closer than this: the second is left out.
const TARGET_GAP: i32 = 90;
/// Room between the labels of neighbouring ticks.
const TICK_GAP: i32 = 80;
/// How far the last tick's label may reach beyond the plot.
pub(super) const OVERHANG: i32 = 160;

/// How much of its colour a band has, and its edges.
const BAND: f64 = 0.24;
const BAND_EDGE: f64 = 0.6;

/// Labels are this far from their axis.
pub(super) const TICK_SPACE: u32 = 90;
/// Space before the vertical axis's label.
pub(super) const EDGE: u32 = 40;

/// Where a plot lies in its area, in tenths of a pixel: the rest is for title and labels.
pub(super) struct Place {
    /// Of the left part what belongs to the plot before, or to the sheet's margin.
    pub(super) outside: u32,
    pub(super) left: u32,
    pub(super) top: u32,
    pub(super) right: u32,
    pub(super) bottom: u32,
    /// Sizes of text.
    pub(super) tick: u32,
    pub(super) title: u32,
}

/// A text's style.
pub(super) fn text_style(size: u32, ink: Ink, bold: bool) -> TextStyle<'static> {
    let font = ("sans-serif", f64::from(size)).into_font();
    font.style(if bold { FontStyle::Bold } else { FontStyle::Normal }).color(&Pen::of(ink))
}

/// Draws it.
pub(super) fn draw(area: &Area, panel: &Panel, place: &Place) -> Drawn {
    let (width, height) = area.dim_in_pixel();
    let plot = (width - place.left - place.right, height - place.top - place.bottom);
    let x_ticks = fitting(&panel.x, place.tick, plot.0 as i32);
    let mut y_ticks = panel.y.choose_ticks((plot.1 / 250).clamp(2, 8) as usize);
    for (_, text) in &mut y_ticks {
        *text = fitted(text, place.tick, false, place.left.saturating_sub(place.outside + EDGE + TICK_SPACE));
    }
    let mut chart = ChartBuilder::on(area)
        .margin_top(place.top)
        .margin_right(place.right)
        .margin_left(if panel.y.shown { place.outside + EDGE } else { place.left })
        .margin_bottom(if panel.x.shown { 0 } else { place.bottom })
        .x_label_area_size(if panel.x.shown { place.bottom } else { 0 })
        .y_label_area_size(if panel.y.shown { place.left - place.outside - EDGE } else { 0 })
        .build_cartesian_2d(panel.x.coordinate(&x_ticks), panel.y.coordinate(&y_ticks))?;
    mesh(&mut chart, panel, [&x_ticks, &y_ticks], place.tick)?;
    for layer in &panel.layers {
        match layer {
            Layer::Series(drawn) => series(&mut chart, panel, drawn)?,
            Layer::Arrow { from, to, style } => {
                if let (Some(from), Some(to)) = (panel.place(*from), panel.place(*to)) {
                    chart.draw_series([Arrow { ends: [from, to], style: *style }])?;
                }
            }
            Layer::Tile(tile) => {
                let ink = tile.colour.map_or(Ink::Rule, |number| ink(Some(number)));
                let pen = Pen::of(ink).at(tile.strength.clamp(0.0, 1.0));
                if let (Some(low), Some(high)) = (panel.place((tile.x.0, tile.y.0)), panel.place((tile.x.1, tile.y.1)))
                {
                    chart.draw_series([Plate { corners: [low, high], pen, note: &tile.note }])?;
                }
            }
        }
    }
    let (mut left, baseline) = (place.left as i32, place.top as i32 - 90);
    if let (Some(style), false) = (panel.about, panel.title.is_empty()) {
        let at = (left + RADIUS, baseline - place.title as i32 / 3);
        area.draw(&Marker { at, style, faint: false, note: "" })?;
        left += 3 * RADIUS;
    }
    let look = text_style(place.title, Ink::Text, true);
    let room = place.left as i32 + plot.0 as i32 + OVERHANG - left;
    let title = fitted(&panel.title, place.title, true, room.max(0) as u32);
    area.draw_text(&title, &look, (left, (baseline - place.title as i32 * 3 / 4).max(0)))?;
    let corner = ((width - place.right) as i32, place.top as i32 + 40);
    let note = text_style(TICK, Ink::Quiet, false).pos(Pos::new(HPos::Right, VPos::Top));
    area.draw_text(&fitted(&panel.note, TICK, false, plot.0), &note, corner)
}

/// Axes, ticks, their labels and the grid.
fn mesh(chart: &mut Chart<'_>, panel: &Panel, ticks: [&[(f64, String)]; 2], size: u32) -> Drawn {
    let [x, y] = ticks.map(|ticks| {
        move |value: &f64| ticks.iter().find(|(at, _)| at == value).map_or_else(String::new, |(_, text)| text.clone())
    });
    let mut mesh = chart.configure_mesh();
    match panel.grid {
        Grid::Horizontal => mesh.disable_x_mesh(),
        Grid::Vertical => mesh.disable_y_mesh(),
        Grid::Bare => mesh.disable_mesh(),
        Grid::Both => &mut mesh,
    };
    mesh.x_max_light_lines(0)
        .y_max_light_lines(0)
        .bold_line_style(Pen::of(Ink::Rule).stroke(10))
        .axis_style(Pen::of(Ink::Quiet).stroke(10))
        .label_style(text_style(size, Ink::Quiet, false))
        .axis_desc_style(text_style(LABEL, Ink::Quiet, false))
        .set_all_tick_mark_size(if panel.grid == Grid::Bare { 15 } else { 40 })
        .x_label_formatter(&x)
        .y_label_formatter(&y);
    if !panel.x.label.is_empty() {
        mesh.x_desc(panel.x.label.as_str());
    }
    if !panel.y.label.is_empty() {
        mesh.y_desc(panel.y.label.as_str());
    }
    mesh.draw()
}

type Chart<'a> = ChartContext<'a, Sheet, Cartesian2d<Coordinate, Coordinate>>;

fn series(chart: &mut Chart<'_>, panel: &Panel, series: &Series) -> Drawn {
    let style = series.style;
    let place = |point: &Point| panel.place((point.x, point.y));
    if series.joined {
        // Stretches between points that have no place.
        for stretch in series.points.split(|point| place(point).is_none()) {
            let places: Vec<(f64, f64)> = stretch.iter().filter_map(place).collect();
            if places.len() > 1 {
                band(chart, panel, stretch, style)?;
                let width = if style.light { 12 } else { 20 };
                chart.draw_series([PathElement::new(places, Pen::line(style).stroke(width))])?;
            }
        }
    } else {
        for (point, (low, high)) in series.points.iter().filter_map(|point| Some((point, point.range?))) {
            // By factors a lower end that is not positive has no place: the bar begins where the axis does.
            let low = if low.is_nan() { low } else { low.max(panel.y.low) };
            let ends = [low, high].map(|end| panel.place((point.x, end)));
            if let [Some(low), Some(high)] = ends {
                chart.draw_series([PathElement::new([low, high], Pen::line(style).stroke(12))])?;
            }
        }
    }
    // Where the last marker is, and where the last one of any kind.
    let (mut last, mut target) = (i32::MIN / 2, i32::MIN / 2);
    for point in series.points.iter().filter(|point| !point.note.is_empty()) {
        let Some(at) = panel.place((point.x, point.y)) else { continue };
        let x = chart.backend_coord(&at).0;
        if series.joined && x - target < TARGET_GAP {
            continue;
        }
        let faint = series.joined && x - last < MARKER_GAP;
        (last, target) = (if faint { last } else { x }, x);
        chart.draw_series([Marker { at, style, faint, note: &point.note }])?;
    }
    Ok(())
}

/// The band around a stretch of a line.
fn band(chart: &mut Chart<'_>, panel: &Panel, stretch: &[Point], style: Style) -> Drawn {
    if stretch.iter().all(|point| point.range.is_none()) {
        return Ok(());
    }
    let edge = |point: &Point, end: fn((f64, f64)) -> f64| panel.place((point.x, point.range.map_or(point.y, end)));
    let upper = stretch.iter().filter_map(|point| edge(point, |range| range.1));
    let lower = stretch.iter().rev().filter_map(|point| edge(point, |range| range.0));
    let (upper, lower): (Vec<(f64, f64)>, Vec<(f64, f64)>) = (upper.collect(), lower.collect());
    let outline: Vec<(f64, f64)> = upper.iter().chain(&lower).copied().collect();
    let pen = Pen::of(ink(style.colour));
    chart.draw_series([Polygon::new(outline, pen.at(BAND))])?;
    // Its edges, so that a narrow band is more than a shadow of its line, also in print.
    chart.draw_series([upper, lower].map(|edge| PathElement::new(edge, pen.at(BAND_EDGE).stroke(6))))?;
    Ok(())
}

/// As many ticks of a horizontal axis as have room for their labels.
fn fitting(axis: &Axis, size: u32, width: i32) -> Vec<(f64, String)> {
    let half = |text: &str| text_width(text, f64::from(size), false) as i32 / 2;
    let fits = |ticks: &[(f64, String)]| {
        let coordinate = axis.coordinate(ticks);
        let ends: Vec<(i32, i32)> = ticks
            .iter()
            .map(|(value, text)| (coordinate.map(value, (0, width)), half(text)))
            .map(|(at, half)| (at - half, at + half))
            .collect();
        ends.windows(2).all(|pair| pair[0].1 + TICK_GAP <= pair[1].0)
            && ends.last().is_none_or(|(_, end)| *end <= width + OVERHANG)
    };
    let choices = (2..=10).rev().map(|most| axis.choose_ticks(most));
    let names = !axis.ticks.is_empty();
    choices.into_iter().find(|ticks| names || fits(ticks)).unwrap_or_default()
}
