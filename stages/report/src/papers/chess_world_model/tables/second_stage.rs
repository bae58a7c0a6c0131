//! Table 6: two floors of the learning rate, compared over whole trainings.

use cwm_page::{Column, PaperComparison, Row, Table, TableCell, comparison_rows, number};

use crate::papers::chess_world_model::facts::{ChoiceStage, PaperFacts};
use crate::papers::chess_world_model::format;
use crate::papers::chess_world_model::model::Model;
use crate::papers::chess_world_model::read::json_lines::Candidate;
use crate::papers::chess_world_model::tables::choices::{Choice, choices, not_run, setting};
use crate::papers::chess_world_model::tables::{EXACT_HEADING, metric_column};

/// The better floor and the other one, for each choice of a second stage.
pub(crate) fn second_stage(candidates: &[(String, Vec<Candidate>)], paper: &PaperFacts) -> Table {
    let choices = choices(candidates);
    let choices: Vec<_> = choices.iter().filter(|choice| choice.kind == ChoiceStage::SecondStage).collect();
    let missing = match choices.as_slice() {
        [] => Vec::new(),
        choices => not_run(choices.iter().map(|choice| &choice.model)),
    };
    Table {
        id: "table-06".into(),
        title: "Floors of the learning rate".into(),
        paper: Some("Table 6, Appendix C"),
        caption: "Whole trainings with the hyper-parameters that the sweep came to, the learning rate falling to one or \
                  another share of its maximum: the one with the lower last validation loss, and the next one. ExactState \
                  and Labelwise are the better one's."
            .into(),
        columns: vec![
            Column::text("Model").naming_rows(),
            Column::text("Size").naming_rows(),
            Column::text("Source"),
            Column::number("Best floor").with_key("lr_floor"),
            Column::number("Best val. loss").with_key("val_loss"),
            Column::number("Other floor").with_key("other_lr_floor"),
            Column::number("Other val. loss").with_key("other_val_loss"),
            metric_column(EXACT_HEADING),
            Column::number("Labelwise (%)"),
        ],
        groups: choices.iter().map(|choice| rows(&choice.model, Some(choice), paper)).collect(),
        not_run: missing.iter().map(|model| rows(model, None, paper)).collect(),
        noun: "models",
        shared_columns: 2,
        ..Table::default()
    }
}

fn rows(model: &Model, choice: Option<&&Choice>, paper: &PaperFacts) -> Vec<Row> {
    let best = choice.and_then(|choice| choice.ranked(1));
    // One that was excluded has no rank; it is the other one all the same.
    let other = choice.and_then(|choice| {
        choice.ranked(2).or_else(|| choice.candidates.iter().find(|candidate| candidate.rank.is_none()))
    });
    let cell = |candidate: Option<&Candidate>, read: &dyn Fn(&Candidate) -> Option<f64>, print: fn(f64) -> String| {
        let value = candidate.and_then(|candidate| Some((candidate, read(candidate)?)));
        match (choice, value) {
            (Some(choice), Some((candidate, value))) => {
                TableCell::number(value, print(value)).with_sources(&choice.sources(candidate))
            }
            _ => TableCell::none(),
        }
    };
    let floor = |candidate| cell(candidate, &|one| setting(one, "lr_floor"), number::setting);
    let printed = |what: &str| paper.chosen(&model.family, &model.size, ChoiceStage::SecondStage, what);
    let columns = [
        PaperComparison::new(floor(best), printed("lr_floor"), number::setting),
        PaperComparison::new(cell(best, &|one| one.loss, format::loss), printed("loss"), format::loss),
        PaperComparison::new(floor(other), printed("other_lr_floor"), number::setting),
        PaperComparison::new(cell(other, &|one| one.loss, format::loss), printed("other_loss"), format::loss),
        PaperComparison::new(
            cell(best, &|one| one.exact.map(|exact| exact * 100.0), format::three_decimals),
            printed("exact"),
            format::three_decimals,
        ),
        PaperComparison::new(
            cell(best, &|one| one.labelwise.map(|share| share * 100.0), format::four_decimals),
            printed("labelwise"),
            format::four_decimals,
        ),
    ];
    let head = [TableCell::text(model.name()), TableCell::text(model.size.clone())];
    comparison_rows(&head, choice.map(|choice| choice.stage), &columns)
}
