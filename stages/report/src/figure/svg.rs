//! A chart as SVG, on its own or inside the page.

use std::fmt::Write;

use super::frame::{Frame, PLOT_HEIGHT, class, marker};
use super::scale::Scale;
use super::{Chart, Point, ScaleKind, Style};
use crate::plain_text::markup;

/// The colours, as CSS variables that follow light and dark mode.
pub(crate) const PALETTE: &str = include_str!("palette.css");
/// How the parts of a chart look.
pub(crate) const CHART_STYLE: &str = include_str!("chart.css");

/// Sizes in CSS pixels at full width.
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
            let x = Scale::up_to(panel.end, if columns == 1 { 10 } else { 7 });
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
                marker(entry.style, (entry.x + end) / 2.0, top, "", false),
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

#[cfg(test)]
mod tests {
    use super::super::{Line, Panel};
    use super::*;

    fn chart(lines: Vec<Line>) -> Chart {
        let end = lines.iter().flat_map(|line| &line.points).map(|point| point.x).fold(0.0, f64::max);
        Chart {
            id: "f".into(),
            title: "<script>".into(),
            description: "a & b".into(),
            x_label: "x".into(),
            y_label: "y".into(),
            scale: ScaleKind::Linear,
            panels: vec![Panel { title: "p".into(), end, note: "<u>".into(), lines }],
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
        for tag in ["<script", "<b>", "<i>", "<u>"] {
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

    /// Markers stand apart; those between show on hovering, so that every point has its tooltip.
    #[test]
    fn crowded_points_get_faint_markers() {
        let svg = chart(vec![line(&[1.0; 200])]).inline_svg();
        assert_eq!(svg.matches("<title>&lt;i&gt;").count(), 200);
        // 880 wide: a point every 4.4, so every third is 9 or more from the one before.
        assert_eq!(svg.matches("class=\"mark\"").count(), 67 + 1, "and one in the legend");
        assert_eq!(svg.matches("class=\"mark faint\"").count(), 133);
    }

    #[test]
    fn each_panel_has_its_own_horizontal_axis() {
        let mut both = chart(vec![line(&[0.0, 100.0])]);
        both.panels.push(Panel { end: 50.0, ..both.panels[0].clone() });
        let svg = both.inline_svg();
        // Two panels: the plots are 400 wide, from 62 and from 542.
        assert!(svg.contains("<path class=\"curve\" d=\"M62.0 304.0L462.0 34.0\"/>"), "{svg}");
        assert!(svg.contains("<path class=\"curve\" d=\"M542.0 304.0L550.0 34.0\"/>"), "{svg}");
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
