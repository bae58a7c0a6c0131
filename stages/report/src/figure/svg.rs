//! A chart as SVG, on its own or inside the page.

use std::fmt::Write;

use super::scale::{Scale, tick_label};
use super::{Chart, Line, Panel, Point, ScaleKind, Style};
use crate::plain_text::markup;

/// The colours, as CSS variables that follow light and dark mode.
pub(crate) const PALETTE: &str = include_str!("palette.css");
/// How the parts of a chart look.
pub(crate) const CHART_STYLE: &str = include_str!("chart.css");

/// Sizes in CSS pixels at full width.
const PLOT_HEIGHT: f64 = 270.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 48.0;
const WIDTH: f64 = 960.0;
const LEGEND_ROW: f64 = 22.0;
/// Mean width of a character at the legend's size; no fonts are at hand to measure with.
const CHARACTER: f64 = 6.8;
const LEGEND_SAMPLE: f64 = 34.0;

impl Chart {
    /// The figure as a file of its own, with its style inside.
    pub(crate) fn standalone_svg(&self) -> String {
        let style = format!(
            "<style>\n{PALETTE}{CHART_STYLE}</style>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n"
        );
        let namespace = " xmlns=\"http://www.w3.org/2000/svg\"";
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}", self.svg(namespace, &style))
    }

    /// The figure as a part of the page, which has the style.
    pub(crate) fn inline_svg(&self) -> String {
        self.svg("", "")
    }

    fn svg(&self, namespace: &str, style: &str) -> String {
        let columns = self.panels.len().clamp(1, 2);
        let rows = self.panels.len().div_ceil(columns).max(1);
        let (cell_width, cell_height) = (WIDTH / columns as f64, TOP + PLOT_HEIGHT + BOTTOM);
        let legend = self.legend();
        let height = rows as f64 * cell_height + legend.last().map_or(0.0, |entry| entry.y + LEGEND_ROW) + 8.0;
        let x = Scale::linear(self.points().map(|point| point.x).chain([0.0]), if columns == 1 { 10 } else { 7 });
        let y = match self.scale {
            ScaleKind::Linear => {
                let ends = |point: &Point| {
                    let spread = point.spread.unwrap_or(0.0);
                    // Bands that reach below zero or above the highest line are cut; the axis is for the lines.
                    [point.y, (point.y - spread).max(0.0)]
                };
                Scale::linear(self.points().flat_map(ends), 5)
            }
            ScaleKind::Logarithmic => Scale::logarithmic(self.points().map(|point| point.y)),
        };
        let id = markup(&self.id);
        let mut svg = format!(
            "<svg{namespace} class=\"chart\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" \
             aria-labelledby=\"{id}-title {id}-description\">\n<title id=\"{id}-title\">{}</title>\n\
             <desc id=\"{id}-description\">{}</desc>\n{style}",
            markup(&self.title),
            markup(&self.description)
        );
        for (index, panel) in self.panels.iter().enumerate() {
            let left = (index % columns) as f64 * cell_width + LEFT;
            let top = (index / columns) as f64 * cell_height + TOP;
            let frame = Frame { left, top, width: cell_width - LEFT - RIGHT, x: &x, y: &y };
            frame.axes(&mut svg, panel, &self.x_label, &self.y_label);
            for line in &panel.lines {
                frame.line(&mut svg, line);
            }
        }
        for entry in legend {
            let top = rows as f64 * cell_height + entry.y + LEGEND_ROW / 2.0;
            let (class, end) = (class(entry.style), entry.x + LEGEND_SAMPLE - 8.0);
            let _ = writeln!(
                svg,
                "<g class=\"{class}\"><path class=\"curve\" d=\"M{:.1} {top:.1}H{end:.1}\"/>{}</g>\
                 <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                entry.x,
                marker(entry.style, (entry.x + end) / 2.0, top, ""),
                entry.x + LEGEND_SAMPLE,
                top + 4.0,
                markup(&entry.name)
            );
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// Each name once, in rows that fit the width.
    fn legend(&self) -> Vec<LegendEntry> {
        let mut entries: Vec<LegendEntry> = Vec::new();
        let (mut x, mut y) = (LEFT, 0.0);
        for line in self.panels.iter().flat_map(|panel| &panel.lines) {
            if entries.iter().any(|entry| entry.name == line.name) {
                continue;
            }
            let width = LEGEND_SAMPLE + line.name.chars().count() as f64 * CHARACTER + 18.0;
            if x + width > WIDTH && x > LEFT {
                (x, y) = (LEFT, y + LEGEND_ROW);
            }
            entries.push(LegendEntry { name: line.name.clone(), style: line.style, x, y });
            x += width;
        }
        entries
    }
}

struct LegendEntry {
    name: String,
    style: Style,
    x: f64,
    y: f64,
}

/// One pair of axes and its place in the figure.
struct Frame<'a> {
    left: f64,
    top: f64,
    width: f64,
    x: &'a Scale,
    y: &'a Scale,
}

impl Frame<'_> {
    fn axes(&self, svg: &mut String, panel: &Panel, x_label: &str, y_label: &str) {
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
        let (x, y) = (left - 48.0, (top + bottom) / 2.0);
        let _ = writeln!(
            svg,
            "<text class=\"label\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 {x:.1} {y:.1})\">\
             {}</text>",
            markup(y_label)
        );
    }

    fn line(&self, svg: &mut String, line: &Line) {
        let _ = writeln!(svg, "<g class=\"{}\">", class(line.style));
        // Stretches between points that have no place.
        for stretch in line.points.split(|point| self.place(point).is_none()) {
            let places: Vec<(f64, f64)> = stretch.iter().filter_map(|point| self.place(point)).collect();
            if places.len() > 1 {
                self.band(svg, stretch);
                let _ = writeln!(svg, "<path class=\"curve\" d=\"{}\"/>", path(places.iter().copied()));
            }
        }
        for point in line.points.iter().filter(|point| !point.note.is_empty()) {
            if let Some((x, y)) = self.place(point) {
                let _ = writeln!(svg, "{}", marker(line.style, x, y, &point.note));
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

fn class(style: Style) -> String {
    format!("c{} d{}", style.colour, style.dash)
}

/// A mark whose shape differs from colour to colour, so that lines can be told apart without seeing colours.
fn marker(style: Style, x: f64, y: f64, note: &str) -> String {
    let title = if note.is_empty() { String::new() } else { format!("<title>{}</title>", markup(note)) };
    let shape = match style.colour % 4 {
        0 => format!("M{:.1} {y:.1}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0Z", x - 3.0),
        1 => format!("M{:.1} {:.1}h5.6v5.6h-5.6Z", x - 2.8, y - 2.8),
        2 => format!("M{x:.1} {:.1}l3.6 6.2h-7.2Z", y - 3.8),
        _ => format!("M{x:.1} {:.1}l3.6 3.6l-3.6 3.6l-3.6 -3.6Z", y - 3.6),
    };
    format!("<path class=\"mark\" d=\"{shape}\">{title}</path>")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(lines: Vec<Line>) -> Chart {
        Chart {
            id: "f".into(),
            title: "<script>".into(),
            description: "a & b".into(),
            x_label: "x".into(),
            y_label: "y".into(),
            scale: ScaleKind::Linear,
            panels: vec![Panel { title: "p".into(), lines }],
        }
    }

    fn line(values: &[f64]) -> Line {
        let point = |(x, y): (usize, &f64)| Point { x: x as f64, y: *y, spread: None, note: "<i>\"'".into() };
        Line {
            name: "<b>".into(),
            style: Style { colour: 1, dash: 0 },
            points: values.iter().enumerate().map(point).collect(),
        }
    }

    #[test]
    fn text_is_escaped() {
        let svg = chart(vec![line(&[1.0, 2.0])]).standalone_svg();
        for tag in ["<script", "<b>", "<i>"] {
            assert!(!svg.contains(tag), "{tag}");
        }
        assert!(svg.contains("<title>&lt;i&gt;&quot;&#39;</title>") && svg.contains("&lt;b&gt;</text>"));
    }

    #[test]
    fn what_is_not_finite_interrupts_the_line() {
        let svg = chart(vec![line(&[1.0, 2.0, f64::INFINITY, 3.0, 4.0, f64::NAN, 5.0])]).inline_svg();
        // Two stretches of two points; the last point stands alone. One more curve is the legend's sample.
        assert_eq!(svg.matches("class=\"curve\"").count(), 3);
        assert_eq!(svg.matches("class=\"mark\"").count(), 6);
        assert!(!svg.contains("inf") && !svg.contains("NaN"));
    }

    #[test]
    fn a_line_goes_through_its_points() {
        let svg = chart(vec![line(&[0.0, 100.0])]).inline_svg();
        // One panel: the plot is 880 wide from 62, 270 high from 34.
        assert!(svg.contains("<path class=\"curve\" d=\"M62.0 304.0L942.0 34.0\"/>"), "{svg}");
    }

    #[test]
    fn no_lines_make_an_empty_chart() {
        assert!(chart(vec![]).is_empty());
        assert!(chart(vec![]).inline_svg().ends_with("</svg>\n"));
    }

    /// WCAG 2: text wants a contrast of 4.5 to 1; lines would do with 3, but their legend is text.
    #[test]
    fn colours_stand_out_in_both_modes() {
        let luminance = |colour: &str| {
            let channel = |at: usize| {
                let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
                if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
        };
        let modes: Vec<&str> = PALETTE.split("@media").collect();
        assert_eq!(modes.len(), 2);
        for mode in modes {
            let colour = |name: &str| mode.split(&format!("--{name}: ")).nth(1).unwrap().split(';').next().unwrap();
            let text = ["ink", "quiet", "accent", "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"];
            for (name, ground) in text.iter().flat_map(|name| ["ground", "raised"].map(|ground| (name, ground))) {
                let (a, b) = (luminance(colour(name)) + 0.05, luminance(colour(ground)) + 0.05);
                assert!(a.max(b) / a.min(b) >= 4.5, "{name} on {ground}: {}", a.max(b) / a.min(b));
            }
        }
    }
}
