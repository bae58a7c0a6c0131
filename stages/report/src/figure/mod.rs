//! Any figure: what it shows, apart from how it is drawn.
//!
//! `plotters` draws it once onto a [`sheet::Sheet`], which `svg` and `pdf` write as files; docs/design/report.md says
//! why.

mod axis;
mod csv;
mod element;
mod layout;
mod legend;
mod palette;
mod panel;
mod pdf;
mod pen;
mod sheet;
mod straight;
mod svg;
mod typeface;

pub(crate) use axis::Axis;
pub(crate) use layout::TILE_COLOUR;
pub(crate) use palette::PALETTE;
pub(crate) use svg::CHART_STYLE;

/// Colours of series; the palette has as many, and there is a marker's shape for each.
pub(crate) const COLOURS: usize = 8;
/// Dash patterns of lines.
pub(crate) const DASHES: usize = 4;

/// A figure: rows of panels and one legend.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chart {
    /// Name of its files, such as `exact-by-prefix`.
    pub(crate) id: String,
    pub(crate) title: String,
    /// Where the paper has it, such as `Figure 3, Section 4.1`.
    pub(crate) paper: Option<&'static str>,
    /// What it shows, for readers who cannot see it.
    pub(crate) description: String,
    pub(crate) rows: Vec<Row>,
    /// What the legend says beyond the names of the series.
    pub(crate) legend: Vec<LegendEntry>,
}

/// A marker and what it means.
#[derive(Clone, Debug)]
pub(crate) struct LegendEntry {
    pub(crate) name: String,
    pub(crate) style: Style,
}

/// Panels side by side.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Over the whole row; may be empty.
    pub(crate) heading: String,
    /// What the colours of its tiles mean: the text at the strongest.
    pub(crate) key: Option<String>,
    pub(crate) height: Height,
    /// Panels have the width of this many to a row.
    pub(crate) columns: usize,
    pub(crate) panels: Vec<Panel>,
}

/// Height of a row's plots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Height {
    /// In pixels at the figure's own width.
    Pixels(u32),
    /// As high as wide.
    Square,
}

/// One pair of axes.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) title: String,
    /// Of the series that the panel is about: its marker stands before the title.
    pub(crate) about: Option<Style>,
    /// What the reader should know of this panel, such as what is left out; stands in its upper right corner.
    pub(crate) note: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// Lines of which axis run through the plot.
    pub(crate) grid: Grid,
    /// In the order in which they are drawn.
    pub(crate) layers: Vec<Layer>,
}

/// Lines of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grid {
    /// From the ticks of the vertical axis.
    Horizontal,
    /// From those of both.
    Both,
    /// From those of the horizontal axis.
    Vertical,
    /// None.
    Bare,
}

/// What is drawn between the axes.
#[derive(Clone, Debug)]
pub(crate) enum Layer {
    Series(Series),
    /// An arrow between two points; a line alone where they stand too near for a head.
    Arrow {
        from: (f64, f64),
        to: (f64, f64),
        style: Style,
    },
    /// A filled rectangle.
    Tile(Tile),
}

/// Points of one name.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    /// For the legend; series of one name share a style and an entry. Empty for none.
    pub(crate) name: String,
    pub(crate) style: Style,
    /// Whether a line joins them; a y that is not finite interrupts it.
    pub(crate) joined: bool,
    /// In order of x where they are joined.
    pub(crate) points: Vec<Point>,
}

/// How a series looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    /// Below [`COLOURS`]; also says which shape its markers have. `None` is the colour of axes.
    pub(crate) colour: Option<usize>,
    /// Below [`DASHES`]; 0 is solid.
    pub(crate) dash: usize,
    /// Whether markers are filled.
    pub(crate) filled: bool,
    /// Whether it stands back behind others: the paper's numbers beside ours.
    pub(crate) light: bool,
}

impl Style {
    /// A solid line with filled markers.
    pub(crate) fn solid(colour: usize) -> Self {
        Style { colour: Some(colour % COLOURS), dash: 0, filled: true, light: false }
    }
}

/// One point of a series.
#[derive(Clone, Debug, Default)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// From where to where it may as well be: a band around a line, a bar through a marker.
    pub(crate) range: Option<(f64, f64)>,
    /// Tooltip; a point without one gets no marker.
    pub(crate) note: String,
}

/// A filled rectangle.
#[derive(Clone, Debug)]
pub(crate) struct Tile {
    /// From left to right.
    pub(crate) x: (f64, f64),
    /// From bottom to top.
    pub(crate) y: (f64, f64),
    /// Below [`COLOURS`]; `None` is the colour of the grid.
    pub(crate) colour: Option<usize>,
    /// How much of its colour is seen: 0 none, 1 all.
    pub(crate) strength: f64,
    /// The number that it stands for, if it does.
    pub(crate) value: Option<f64>,
    /// Tooltip; may be empty.
    pub(crate) note: String,
}

impl Point {
    /// What an axis has to span for it: its number and the ends of its range.
    pub(crate) fn heights(&self) -> [f64; 3] {
        let (low, high) = self.range.unwrap_or((self.y, self.y));
        [self.y, low, high]
    }
}

impl Chart {
    /// What its caption begins with: its title, the paper's number before it where it has one.
    pub(crate) fn numbered_title(&self) -> String {
        crate::table::numbered(&self.title, self.paper)
    }

    /// Whether there is anything to draw.
    pub(crate) fn is_empty(&self) -> bool {
        let shows = |layer: &Layer| match layer {
            Layer::Series(series) => !series.points.is_empty(),
            Layer::Tile(tile) => tile.value.is_some(),
            Layer::Arrow { .. } => true,
        };
        !self.panels().any(|panel| panel.layers.iter().any(shows))
    }

    fn panels(&self) -> impl Iterator<Item = &Panel> {
        self.rows.iter().flat_map(|row| &row.panels)
    }
}

impl Panel {
    /// The point as far as the axes go; `None` if it has no place on them.
    fn place(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        Some((self.x.place(x)?, self.y.place(y)?))
    }

    /// All its series.
    pub(crate) fn series(&self) -> impl Iterator<Item = &Series> {
        self.layers.iter().filter_map(|layer| match layer {
            Layer::Series(series) => Some(series),
            Layer::Arrow { .. } | Layer::Tile(_) => None,
        })
    }
}

#[cfg(test)]
pub(crate) mod tests;
