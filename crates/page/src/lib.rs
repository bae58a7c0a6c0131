//! A page of tables and figures, for the report of any paper.
//!
//! A paper puts a [`Chapter`] of sections on a [`Page`]; a section holds [`Table`]s, [`Figure`]s and widgets. `table`
//! and `figure` write each of them in every format, `facts` and `comparison` set a paper's numbers beside measured
//! ones, and `page` writes the files. This crate does not define tables and figures, their measures, or the sources of
//! numbers.

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
pub use plain_text::{escape_controls, file_name};
pub use table::{Align, Column, Interval, PAPER_ONLY, Row, RowKind, Table, TableCell};
