//! Table 4: parameter counts.

use std::collections::{BTreeMap, BTreeSet};

use cwm_page::{Column, PaperComparison, Row, Table, TableCell, comparison_rows, number};

use crate::papers::chess_world_model::facts::PaperFacts;
use crate::papers::chess_world_model::model::{ABLATIONS, MAIN_FAMILIES, Model, SIZES};
use crate::papers::chess_world_model::results::Results;

/// The parameters of the models that were scored, beside the paper's where it has that family and size.
pub(crate) fn parameter_counts(results: &Results, paper: &PaperFacts) -> Table {
    // Models that differ in how they were trained or tested have the same number.
    let mut counts: BTreeMap<Model, BTreeMap<Option<u64>, BTreeSet<&String>>> = BTreeMap::new();
    for (index, (model, parameters)) in results.models.iter().zip(&results.parameters).enumerate() {
        let labels =
            results.overall.iter().filter(|((at, _), _)| *at == index).flat_map(|(_, overall)| overall.labels());
        let model = Model { coordinates: Vec::new(), ..model.clone() };
        counts.entry(model).or_default().entry(*parameters).or_default().extend(labels);
    }
    let theirs =
        MAIN_FAMILIES.iter().chain(&ABLATIONS).flat_map(|family| SIZES.map(|size| Model::new("", family, size)));
    let not_run = theirs.filter(|model| !counts.contains_key(model));
    let not_run = not_run.map(|model| rows(&model, None, &BTreeSet::new(), paper)).collect();
    let ours =
        counts.iter().flat_map(|(model, counts)| counts.iter().map(move |(count, labels)| (model, count, labels)));
    Table {
        id: "table-04".into(),
        title: "Parameter counts".into(),
        paper: Some("Table 4, Appendix B.2"),
        caption: "Trained parameters of each model; the paper gives millions with two decimals.".into(),
        groups: ours.map(|(model, count, labels)| rows(model, Some(*count), labels, paper)).collect(),
        columns: vec![
            Column::text("Model").naming_rows(),
            Column::text("Size").naming_rows(),
            Column::text("Source"),
            Column::number("Parameters"),
            Column::number("Millions").with_key("parameters_millions"),
        ],
        not_run,
        noun: "models",
        shared_columns: 2,
        ..Table::default()
    }
}

/// The rows of one count; `None` where it was not run.
fn rows(model: &Model, count: Option<Option<u64>>, labels: &BTreeSet<&String>, paper: &PaperFacts) -> Vec<Row> {
    let head = [TableCell::text(model.name()), TableCell::text(model.size.clone())];
    let known = count.flatten();
    let millions = known.map(|number| number as f64 / 1e6);
    let cells = [
        known.map_or(TableCell::none(), TableCell::count),
        millions.map_or(TableCell::none(), |millions| TableCell::number(millions, number::two_decimals(millions))),
    ];
    let [count_cell, millions] =
        cells.map(|cell| if known.is_some() { cell.with_sources(labels.iter().copied()) } else { cell });
    let printed = paper.parameters(&model.family, &model.size);
    let columns =
        [PaperComparison::without_paper(count_cell), PaperComparison::new(millions, printed, number::two_decimals)];
    comparison_rows(&head, count.map(|_| "this run"), &columns)
}
