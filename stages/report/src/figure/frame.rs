//! One panel of a chart as SVG: its axes, lines, bands and markers.

use std::fmt::Write;

use super::scale::{Scale, tick_label};
use super::{Line, Panel, Point, Style};
use crate::plain_text::markup;

/// Height of the plot in CSS pixels at full width.
pub(super) const PLOT_HEIGHT: f64 = 270.0;
/// Markers of one line that are closer than this are drawn faint, or they would hide the line and each other.
const MARKER_GAP: f64 = 9.0;

/// One pair of axes and its place in the figure.
pub(super) struct Frame<'a> {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) x: &'a Scale,
    pub(super) y: &'a Scale,
}

impl Frame<'_> {
    pub(super) fn axes(&self, svg: &mut String, panel: &Panel, x_label: &str, y_label: &str) {
        let (left, right, top, bottom) = (self.left, self.left + self.width, self.top, self.top + PLOT_HEIGHT);
        let _ = writeln!(
            svg,
            "<text class=\"heading\" x=\"{left:.1}\" y=\"{:.1}\">{}</text>",
            top - 14.0,
            markup(&panel.title)
        );
        for tick in &self.y.ticks {
            let Some(y) = self.at_y(*tick) else { continue };
            let _ = writeln!(
                svg,
                "<path class=\"grid\" d=\"M{left:.1} {y:.1}H{right:.1}\"/><text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" \
                 text-anchor=\"end\">{}</text>",
                left - 8.0,
                y + 4.0,
                markup(&tick_label(*tick))
            );
        }
        for tick in &self.x.ticks {
            let Some(x) = self.at_x(*tick) else { continue };
            let _ = writeln!(
                svg,
                "<path class=\"axis\" d=\"M{x:.1} {bottom:.1}v5\"/><text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\" \
                 text-anchor=\"middle\">{}</text>",
                bottom + 19.0,
                markup(&tick_label(*tick))
            );
        }
        let _ = writeln!(svg, "<path class=\"axis\" d=\"M{left:.1} {bottom:.1}H{right:.1}\"/>");
        let middle = (left + right) / 2.0;
        let _ = writeln!(
            svg,
            "<text class=\"label\" x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 38.0,
            markup(x_label)
        );
        if !panel.note.is_empty() {
            let _ = writeln!(
                svg,
                "<text class=\"label note\" x=\"{right:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                top + 16.0,
                markup(&panel.note)
            );
        }
        let (x, y) = (left - 48.0, (top + bottom) / 2.0);
        let _ = writeln!(
            svg,
            "<text class=\"label\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 {x:.1} {y:.1})\">\
             {}</text>",
            markup(y_label)
        );
    }

    pub(super) fn line(&self, svg: &mut String, line: &Line) {
        let _ = writeln!(svg, "<g class=\"{}\">", class(line.style));
        // Stretches between points that have no place.
        for stretch in line.points.split(|point| self.place(point).is_none()) {
            let places: Vec<(f64, f64)> = stretch.iter().filter_map(|point| self.place(point)).collect();
            if places.len() > 1 {
                self.band(svg, stretch);
                let _ = writeln!(svg, "<path class=\"curve\" d=\"{}\"/>", path(places.iter().copied()));
            }
        }
        let mut last = f64::NEG_INFINITY;
        for point in line.points.iter().filter(|point| !point.note.is_empty()) {
            if let Some((x, y)) = self.place(point) {
                let faint = x - last < MARKER_GAP;
                last = if faint { last } else { x };
                let _ = writeln!(svg, "{}", marker(line.style, x, y, &point.note, faint));
            }
        }
        svg.push_str("</g>\n");
    }

    fn band(&self, svg: &mut String, stretch: &[Point]) {
        if stretch.iter().all(|point| point.spread.is_none()) {
            return;
        }
        let edge = |point: &Point, sign: f64| {
            let spread = point.spread.unwrap_or(0.0);
            Some((self.at_x(point.x)?, self.at_y(point.y + sign * spread)?))
        };
        let upper = stretch.iter().filter_map(|point| edge(point, 1.0));
        let lower = stretch.iter().rev().filter_map(|point| edge(point, -1.0));
        let _ = writeln!(svg, "<path class=\"band\" d=\"{}Z\"/>", path(upper.chain(lower)));
    }

    fn place(&self, point: &Point) -> Option<(f64, f64)> {
        Some((self.at_x(point.x)?, self.at_y(point.y)?))
    }

    fn at_x(&self, value: f64) -> Option<f64> {
        self.x.place(value).map(|place| self.left + place * self.width)
    }

    fn at_y(&self, value: f64) -> Option<f64> {
        self.y.place(value).map(|place| self.top + (1.0 - place) * PLOT_HEIGHT)
    }
}

fn path(places: impl Iterator<Item = (f64, f64)>) -> String {
    let mut text = String::new();
    for (index, (x, y)) in places.enumerate() {
        let _ = write!(text, "{}{x:.1} {y:.1}", if index == 0 { 'M' } else { 'L' });
    }
    text
}

pub(super) fn class(style: Style) -> String {
    format!("c{} d{}", style.colour, style.dash)
}

/// A mark whose shape differs from colour to colour, so that lines can be told apart without seeing colours. A faint
/// one is seen only while the pointer is on it.
pub(super) fn marker(style: Style, x: f64, y: f64, note: &str, faint: bool) -> String {
    let faint = if faint { " faint" } else { "" };
    let title = if note.is_empty() { String::new() } else { format!("<title>{}</title>", markup(note)) };
    let shape = match style.colour % 4 {
        0 => format!("M{:.1} {y:.1}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0Z", x - 3.0),
        1 => format!("M{:.1} {:.1}h5.6v5.6h-5.6Z", x - 2.8, y - 2.8),
        2 => format!("M{x:.1} {:.1}l3.6 6.2h-7.2Z", y - 3.8),
        _ => format!("M{x:.1} {:.1}l3.6 3.6l-3.6 3.6l-3.6 -3.6Z", y - 3.6),
    };
    format!("<path class=\"mark{faint}\" d=\"{shape}\">{title}</path>")
}
