//! Any line chart: what it shows, apart from how it is drawn.
//!
//! Our own few lines of SVG, not a plotting library; docs/design/report.md says why.

mod frame;
mod scale;
mod svg;

pub(crate) use scale::Kind as ScaleKind;
pub(crate) use svg::{CHART_STYLE, PALETTE};

/// Colours of lines; the palette has as many.
pub(crate) const COLOURS: usize = 8;
/// Dash patterns of lines.
pub(crate) const DASHES: usize = 4;

/// A figure: panels side by side with a common vertical axis and one legend; each has its own horizontal axis.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    /// Name of its file, such as `exact-by-prefix`.
    pub(crate) id: String,
    pub(crate) title: String,
    /// What it shows, for readers who cannot see it.
    pub(crate) description: String,
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    /// Of the vertical axis.
    pub(crate) scale: ScaleKind,
    pub(crate) panels: Vec<Panel>,
}

/// One pair of axes.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) title: String,
    /// Where the horizontal axis ends, which begins at 0. No point lies beyond.
    pub(crate) end: f64,
    /// What the reader should know of this panel, such as what is left out; stands in its upper right corner.
    pub(crate) note: String,
    pub(crate) lines: Vec<Line>,
}

/// One line.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// For the legend; lines of one name share a style and an entry.
    pub(crate) name: String,
    pub(crate) style: Style,
    /// In order of x. A y that is not finite interrupts the line.
    pub(crate) points: Vec<Point>,
}

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    /// Below [`COLOURS`].
    pub(crate) colour: usize,
    /// Below [`DASHES`]; 0 is solid.
    pub(crate) dash: usize,
}

/// One point of a line.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// Half the height of the band around the line.
    pub(crate) spread: Option<f64>,
    /// Tooltip; a point without one gets no marker.
    pub(crate) note: String,
}

impl Chart {
    /// Whether there is any line to draw.
    pub(crate) fn is_empty(&self) -> bool {
        self.panels.iter().all(|panel| panel.lines.is_empty())
    }

    fn points(&self) -> impl Iterator<Item = &Point> {
        self.panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| &line.points)
    }
}
