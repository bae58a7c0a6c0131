//! The labels of a position that a model gets wrong, over all its runs.

use cwm_contract::Label;
use cwm_page::escape_controls;

use crate::papers::chess_world_model::model::Model;
use crate::papers::chess_world_model::read::errors::{LABELS, WrongLabels};
use crate::papers::chess_world_model::results::Results;
use crate::papers::chess_world_model::test_set::TestSet;

/// The wrong labels of one model on one test set, summed over its runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Errors {
    /// Index of the model and of the test set among the results'.
    pub(crate) model: usize,
    pub(crate) test: usize,
    /// Positions scored.
    pub(crate) positions: u64,
    /// Games with at least one wrong position.
    pub(crate) games: u64,
    /// Positions in which a label is wrong, by its index.
    pub(crate) wrong: [u64; LABELS],
    /// Games in whose first wrong position it is wrong.
    pub(crate) first: [u64; LABELS],
}

/// Labels of a position by subject, as docs/formats.md numbers them.
pub(crate) const GROUPS: [(&str, std::ops::Range<usize>); 7] = [
    ("Squares", 0..64),
    ("Side to move", 64..65),
    ("Castling rights", 65..69),
    ("En passant file", 69..70),
    ("En passant rank", 70..71),
    ("Half-move clock", 71..73),
    ("Full-move number", 73..75),
];

/// Gathers the runs of each model, in the order of models, then test sets.
pub(crate) fn gather(cells: &[WrongLabels], results: &Results) -> Vec<Errors> {
    let mut all: Vec<Errors> = Vec::new();
    for cell in cells {
        let Some((model, test)) = place(cell, results) else { continue };
        let found = all.iter().position(|errors| (errors.model, errors.test) == (model, test));
        let at = found.unwrap_or_else(|| {
            all.push(Errors { model, test, positions: 0, games: 0, wrong: [0; LABELS], first: [0; LABELS] });
            all.len() - 1
        });
        let errors = &mut all[at];
        errors.positions += cell.positions;
        errors.games += cell.games;
        for (sum, more) in errors.wrong.iter_mut().chain(&mut errors.first).zip(cell.wrong.iter().chain(&cell.first)) {
            *sum += more;
        }
    }
    all.sort_by_key(|errors| (errors.model, errors.test));
    all
}

/// Returns the model and the test set of a cell.
fn place(cell: &WrongLabels, results: &Results) -> Option<(usize, usize)> {
    let model = Model::new(&escape_controls(&cell.label), &escape_controls(&cell.family), &escape_controls(&cell.size));
    // Where two stages scored one model, its stage is a part of it.
    let stage = cell.label.parse::<Label>().map_or_else(|_| cell.label.clone(), |label| label.stage);
    let mut apart = model.clone();
    apart.coordinates.insert(0, ("stage".to_owned(), escape_controls(&stage)));
    let model = results.models.iter().position(|known| *known == model || *known == apart)?;
    Some((model, results.test(&TestSet::from_name(&escape_controls(&cell.test)))?))
}
