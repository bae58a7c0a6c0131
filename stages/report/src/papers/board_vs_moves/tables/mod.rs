//! The tables. What a table's numbers cannot show stands in its caption.

mod arms;
mod bins;
mod data;
mod differences;
mod exposure;
mod legal_moves;
mod levels;
mod masks;
mod paper_tables;
mod positions;
mod ratings;

pub(crate) use arms::arms;
pub(crate) use bins::{PLY_BINS, by_mobility, by_ply, ply_bin_name, seen};
pub(crate) use data::data;
pub(crate) use differences::differences;
pub(crate) use exposure::{FORCED_AND_FREE, answers_in_several_tokens, exposure};
pub(crate) use legal_moves::{histogram, legal_moves};
pub(crate) use levels::{SWEEPS, levels};
pub(crate) use masks::{MASKS, masks};
pub(crate) use paper_tables::{table_2, table_3};
pub(crate) use positions::positions;
pub(crate) use ratings::ratings;

use cwm_page::{Row, RowKind, TableCell};

/// The meaning of intervals, for captions.
const INTERVALS: &str = "Intervals hold 95 % of 1,000 resamples of games (of positions, where there are no games); they do not show how \
                         seeds differ, over which arms are averaged position by position.";

/// A row of numbers that were printed elsewhere.
fn printed_row(cells: Vec<TableCell>) -> Row {
    Row { kind: RowKind::Paper, cells }
}

/// The authors' code, as a source.
const REPOSITORY: &str = "authors' repository";
