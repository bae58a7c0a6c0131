//! Any figure, apart from the way it is drawn.
//!
//! It is drawn once onto a [`canvas::VectorCanvas`], which `svg` and `pdf` write as files; docs/design/report.md has the reasons.

mod axis;
mod canvas;
mod csv;
mod layout;
mod legend;
mod marker;
mod overlaps;
mod paint;
mod palette;
mod panel;
mod pdf;
mod simplify;
mod svg;
mod typeface;

pub use axis::{Axis, ScaleKind};
pub use layout::TILE_COLOUR;
pub(crate) use palette::PALETTE;
pub(crate) use svg::FIGURE_STYLE;

/// Colours of series; the palette has as many, and there is a marker's shape for each.
pub const COLOURS: usize = 8;
/// Dash patterns of lines.
pub const DASHES: usize = 4;

/// A figure: rows of panels and one legend.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// Name of its files, such as `exact-by-prefix`.
    pub id: String,
    /// The subject, in a few words.
    pub title: String,
    /// The number in the paper, such as `Figure 3, Section 4.1`.
    pub paper: Option<&'static str>,
    /// The description for readers who cannot see it.
    pub description: String,
    /// Its panels, row by row.
    pub rows: Vec<PanelRow>,
    /// Entries of the legend beyond the names of the series.
    pub legend: Vec<LegendEntry>,
}

/// A marker and what it means.
#[derive(Clone, Debug)]
pub struct LegendEntry {
    /// The meaning of the marker.
    pub name: String,
    /// The style of the marker.
    pub style: Style,
}

/// Panels side by side.
#[derive(Clone, Debug)]
pub struct PanelRow {
    /// Over the whole row; may be empty.
    pub heading: String,
    /// The meaning of its tiles' colours: the text at the strongest.
    pub key: Option<String>,
    /// The height of its plots.
    pub height: Height,
    /// Panels have the width of this many to a row.
    pub columns: usize,
    /// The panels, from left to right.
    pub panels: Vec<Panel>,
}

/// Height of a row's plots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Height {
    /// The height in pixels at the figure's own width.
    Pixels(u32),
    /// Square plots.
    Square,
}

/// One pair of axes.
#[derive(Clone, Debug)]
pub struct Panel {
    /// The subject; may be empty.
    pub title: String,
    /// The style of the marker before the title, of a panel about one series.
    pub marker: Option<Style>,
    /// A note for the reader, such as what is left out; stands in the upper right corner.
    pub note: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Lines of which axis run through the plot.
    pub grid: Grid,
    /// The layers, in the order in which they are drawn.
    pub layers: Vec<Layer>,
}

/// Lines of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// Lines from the ticks of the vertical axis.
    Horizontal,
    /// Lines from the ticks of both axes.
    Both,
    /// Lines from the ticks of the horizontal axis.
    Vertical,
    /// None.
    Bare,
}

/// A layer between the axes.
#[derive(Clone, Debug)]
pub enum Layer {
    /// A line or markers.
    Series(Series),
    /// An arrow between two points; a line alone where they stand too near for a head.
    Arrow {
        /// The tail of the arrow.
        from: (f64, f64),
        /// The head of the arrow.
        to: (f64, f64),
        /// The style of the arrow.
        style: Style,
    },
    /// A filled rectangle.
    Tile(Tile),
    /// A short text around a point, such as the letter of a piece.
    Text {
        /// The middle of the text.
        at: (f64, f64),
        /// The text.
        text: String,
    },
}

/// Points of one name.
#[derive(Clone, Debug)]
pub struct Series {
    /// For the legend; series of one name share a style and an entry. Empty for none.
    pub name: String,
    /// The style of its lines and markers.
    pub style: Style,
    /// True if a line joins them; a y that is not finite interrupts it.
    pub joined: bool,
    /// In order of x where they are joined.
    pub points: Vec<Point>,
}

/// The style of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Below [`COLOURS`]; also determines the shape of its markers. `None` is the colour of axes.
    pub colour: Option<usize>,
    /// Below [`DASHES`]; 0 is solid.
    pub dash: usize,
    /// True if markers are filled.
    pub filled: bool,
    /// True if it is drawn behind others: the paper's numbers beside ours.
    pub light: bool,
}

impl Style {
    /// A solid line with filled markers.
    pub fn solid(colour: usize) -> Self {
        Style { colour: Some(colour % COLOURS), dash: 0, filled: true, light: false }
    }
}

/// One point of a series.
#[derive(Clone, Debug, Default)]
pub struct Point {
    /// Its place along the horizontal axis.
    pub x: f64,
    /// Its place along the vertical axis.
    pub y: f64,
    /// The interval around `y`: a band around a line, a bar through a marker.
    pub range: Option<(f64, f64)>,
    /// Tooltip; a point without one gets no marker.
    pub note: String,
}

/// A filled rectangle.
#[derive(Clone, Debug)]
pub struct Tile {
    /// The horizontal range, from left to right.
    pub x: (f64, f64),
    /// The vertical range, from bottom to top.
    pub y: (f64, f64),
    /// Below [`COLOURS`]; `None` is the colour of the grid.
    pub colour: Option<usize>,
    /// The strength of its colour: 0 none, 1 full.
    pub strength: f64,
    /// The number that it stands for, if any.
    pub value: Option<f64>,
    /// Tooltip; may be empty.
    pub note: String,
}

impl Point {
    /// Returns the numbers that an axis has to span for it: its number and the ends of its range.
    pub fn heights(&self) -> [f64; 3] {
        let (low, high) = self.range.unwrap_or((self.y, self.y));
        [self.y, low, high]
    }
}

impl Figure {
    /// Returns the beginning of its caption: its title, after the paper's number where it has one.
    pub fn numbered_title(&self) -> String {
        crate::table::numbered(&self.title, self.paper)
    }

    /// Returns true if there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        let shows = |layer: &Layer| match layer {
            Layer::Series(series) => !series.points.is_empty(),
            Layer::Tile(tile) => tile.value.is_some(),
            Layer::Arrow { .. } | Layer::Text { .. } => true,
        };
        !self.panels().any(|panel| panel.layers.iter().any(shows))
    }

    fn panels(&self) -> impl Iterator<Item = &Panel> {
        self.rows.iter().flat_map(|row| &row.panels)
    }
}

impl Panel {
    /// All its series.
    pub fn series(&self) -> impl Iterator<Item = &Series> {
        self.layers.iter().filter_map(|layer| match layer {
            Layer::Series(series) => Some(series),
            Layer::Arrow { .. } | Layer::Tile(_) | Layer::Text { .. } => None,
        })
    }
}

#[cfg(test)]
mod tests;
