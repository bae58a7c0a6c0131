//! `errors.parquet` of a `bins` folder: which of a position's labels are wrong.

use std::fs::File;
use std::path::Path;

use cwm_contract::Failure;
use polars_core::prelude::{DataFrame, DataType, PolarsResult};
use polars_io::prelude::{ParquetReader, SerReader};

/// Labels of a position.
pub(crate) const LABELS: usize = 75;

/// How often each label is wrong in the scores of one cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WrongLabels {
    /// Label of the scored cell.
    pub(crate) label: String,
    pub(crate) family: String,
    pub(crate) size: String,
    pub(crate) test: String,
    /// Positions scored.
    pub(crate) positions: u64,
    /// Games with at least one wrong position.
    pub(crate) games: u64,
    /// Positions in which the label is wrong, by its index.
    pub(crate) wrong: [u64; LABELS],
    /// Games in whose first wrong position the label is wrong, by its index.
    pub(crate) first: [u64; LABELS],
}

const TEXTS: [&str; 4] = ["label", "family", "size", "test"];
const COUNTS: [&str; 5] = ["index", "wrong", "first", "positions", "games"];

/// Reads it, in the order of its rows; nothing where bins of an earlier version lack the file.
///
/// # Errors
/// The file is no such table.
pub(crate) fn read(folder: &Path) -> Result<Vec<WrongLabels>, Failure> {
    let path = folder.join("errors.parquet");
    if !path.exists() {
        return Ok(Vec::new());
    }
    let place = path.display();
    let file = File::open(&path).map_err(|error| Failure::io("open", &path, error))?;
    let frame = ParquetReader::new(file)
        .finish()
        .map_err(|error| Failure::input(format!("{place} is no readable Parquet file: {error}")))?;
    let wanted =
        TEXTS.iter().map(|name| (name, DataType::String)).chain(COUNTS.iter().map(|name| (name, DataType::UInt64)));
    for (name, kind) in wanted {
        let column = frame.column(name).map_err(|_| Failure::input(format!("{place} has no column `{name}`")))?;
        if column.dtype() != &kind || column.null_count() > 0 {
            let found = column.dtype();
            return Err(Failure::input(format!(
                "the column `{name}` of {place} must be {kind} throughout, not {found}"
            )));
        }
    }
    let cells = gather(&frame).map_err(|error| Failure::internal(format!("{place}: {error}")))?;
    cells.ok_or_else(|| Failure::input(format!("{place} has labels beyond the {LABELS} of a position")))
}

/// `None` if an index is none of a position's labels.
fn gather(frame: &DataFrame) -> PolarsResult<Option<Vec<WrongLabels>>> {
    let [label, family, size, test] = TEXTS.map(|name| frame.column(name).and_then(|column| column.str()));
    let (label, family, size, test) = (label?, family?, size?, test?);
    let [index, wrong, first, positions, games] = COUNTS.map(|name| frame.column(name).and_then(|column| column.u64()));
    let (index, wrong, first, positions, games) = (index?, wrong?, first?, positions?, games?);
    let mut cells: Vec<WrongLabels> = Vec::new();
    for row in 0..frame.height() {
        let name = label.get(row).unwrap_or_default();
        if cells.last().is_none_or(|cell| cell.label != name) {
            cells.push(WrongLabels {
                label: name.to_owned(),
                family: family.get(row).unwrap_or_default().to_owned(),
                size: size.get(row).unwrap_or_default().to_owned(),
                test: test.get(row).unwrap_or_default().to_owned(),
                positions: positions.get(row).unwrap_or(0),
                games: games.get(row).unwrap_or(0),
                wrong: [0; LABELS],
                first: [0; LABELS],
            });
        }
        let at = index.get(row).map_or(LABELS, |index| index as usize);
        if let (Some(cell), true) = (cells.last_mut(), at < LABELS) {
            cell.wrong[at] = wrong.get(row).unwrap_or(0);
            cell.first[at] = first.get(row).unwrap_or(0);
        } else {
            return Ok(None);
        }
    }
    Ok(Some(cells))
}
