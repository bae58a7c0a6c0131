//! `errors.parquet` of a `bins` folder: the number of errors of each label of a position.

use std::path::Path;

use cwm_contract::Failure;

use crate::papers::chess_world_model::read::table::Table;

/// Labels of a position.
pub(crate) const LABELS: usize = 75;

/// The number of errors of each label in the scores of one cell.
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

/// Reads it, in the order of its rows; nothing where bins of an earlier version have no such file.
///
/// # Errors
/// The file is no such table.
pub(crate) fn read(folder: &Path) -> Result<Vec<WrongLabels>, Failure> {
    let path = folder.join("errors.parquet");
    if !path.exists() {
        return Ok(Vec::new());
    }
    let table = Table::read(&path)?;
    let [label, family, size, test] = ["label", "family", "size", "test"].map(|name| table.column::<String>(name));
    let (label, family, size, test) = (label?, family?, size?, test?);
    let [index, wrong, first, positions, games] =
        ["index", "wrong", "first", "positions", "games"].map(|name| table.column::<u64>(name));
    let (index, wrong, first, positions, games) = (index?, wrong?, first?, positions?, games?);
    let mut cells: Vec<WrongLabels> = Vec::new();
    for row in 0..table.height() {
        if cells.last().is_none_or(|cell| cell.label != label[row]) {
            cells.push(WrongLabels {
                label: label[row].clone(),
                family: family[row].clone(),
                size: size[row].clone(),
                test: test[row].clone(),
                positions: positions[row],
                games: games[row],
                wrong: [0; LABELS],
                first: [0; LABELS],
            });
        }
        let at = index[row] as usize;
        let (Some(cell), true) = (cells.last_mut(), at < LABELS) else {
            let beyond = format!("{} has labels beyond the {LABELS} of a position", table.path());
            return Err(Failure::input(beyond));
        };
        cell.wrong[at] = wrong[row];
        cell.first[at] = first[row];
    }
    Ok(cells)
}
