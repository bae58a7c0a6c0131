//! The labels of all cells of the pipeline that the numbers of a page or a file come from; a number names them by place.

use std::collections::BTreeSet;

use super::{Table, TableCell};

/// The labels behind these tables themselves, sorted; what their data holds beyond that is not on the page.
pub fn sources<'a>(tables: impl IntoIterator<Item = &'a Table>) -> Vec<String> {
    let groups = tables.into_iter().flat_map(Table::all_groups);
    let cells = groups.flat_map(|(group, _)| group).flat_map(|row| &row.cells);
    let labels: BTreeSet<&String> = cells.flat_map(|cell| &cell.sources).collect();
    labels.into_iter().cloned().collect()
}

/// Places of the cell's labels in `sources`, from 0.
pub(super) fn places(sources: &[String], cell: &TableCell) -> impl Iterator<Item = usize> {
    cell.sources.iter().filter_map(|label| sources.binary_search(label).ok())
}
