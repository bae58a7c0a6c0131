//! A page of tables and figures: what any paper's report is made of.
//!
//! A paper puts a [`Chapter`] of sections on a [`Page`]; a section holds [`Table`]s, [`Figure`]s and widgets. `table` and
//! `figure` know how to write each of them in every format, `facts` and `comparison` set what a paper printed beside what
//! was measured, and `page` writes the files. This crate does not know which tables and figures there are, what they
//! measure, or where the numbers come from.

mod comparison;
mod facts;
mod figure;
mod mean_std;
pub mod number;
mod page;
mod plain_text;
mod table;

pub use comparison::{PaperComparison, comparison_rows};
pub use facts::{Facts, PrintedValue};
pub use figure::{
    Axis, COLOURS, DASHES, Figure, Grid, Height, Layer, LegendEntry, Panel, PanelRow, Point, ScaleKind, Series, Style,
    TILE_COLOUR, Tile,
};
pub use mean_std::MeanStd;
pub use page::{Block, Chapter, Link, Page, Section, Widget, embedded_json};
pub use plain_text::{file_name, visible};
pub use table::{Align, Cell, Column, Interval, PAPER_ONLY, Row, RowKind, Table};
