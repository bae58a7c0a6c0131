//! Table 7: the hyper-parameters of the models that were tested.

use std::collections::BTreeMap;

use cwm_page::{Column, PaperComparison, Row, Table, TableCell, comparison_rows, number};

use crate::papers::chess_world_model::facts::{ChoiceStage, PaperFacts};
use crate::papers::chess_world_model::model::Model;
use crate::papers::chess_world_model::results::{Results, TestResult};
use crate::papers::chess_world_model::settings::{self, Settings};
use crate::papers::chess_world_model::tables::choices::not_run;

/// Table 7 of the checkpoints that were evaluated; the bins have their settings from the scores.
pub(crate) fn final_settings(results: &Results, paper: &PaperFacts) -> Table {
    let mut models: Vec<(Model, Vec<&TestResult>)> = Vec::new();
    for (index, model) in results.models.iter().enumerate() {
        let runs = results.overall.iter().filter(|((at, _), _)| *at == index).flat_map(|(_, overall)| &overall.each);
        let runs: Vec<&TestResult> = runs.filter(|run| !run.settings.is_empty()).collect();
        if runs.is_empty() {
            continue;
        }
        // Another way to compute a model that stands here already is no other training.
        let known = models.iter_mut().find(|(other, theirs)| {
            (&other.family, &other.size) == (&model.family, &model.size)
                && training(other) == training(model)
                && values(theirs) == values(&runs)
        });
        match known {
            Some((_, known)) => known.extend(runs),
            None => models.push((model.clone(), runs)),
        }
    }
    let missing = match models.as_slice() {
        [] => Vec::new(),
        models => not_run(models.iter().map(|(model, _)| model)),
    };
    let mut columns =
        vec![Column::text("Model").naming_rows(), Column::text("Size").naming_rows(), Column::text("Source")];
    columns.extend(Settings::columns(5));
    Table {
        id: "table-07".into(),
        title: "Final hyper-parameters".into(),
        paper: Some("Table 7, Appendix C"),
        caption: "Of the models that were tested, from their checkpoints. LR floor is the share of the highest learning rate to \
                  which it falls; a dash where it does not fall, or where a model of another program has no such value."
            .into(),
        columns,
        groups: models.iter().map(|(model, runs)| rows(model, runs, paper)).collect(),
        not_run: missing.iter().map(|model| rows(model, &[], paper)).collect(),
        noun: "models",
        shared_columns: 2,
        ..Table::default()
    }
}

/// Returns the coordinates that distinguish the model's training from others of its family and size: all but those of
/// the way in which it is computed and of the stage that scored it.
fn training(model: &Model) -> Vec<&(String, String)> {
    let identifies_training = |(axis, value): &(String, String)| match axis.as_str() {
        "scan" | "stage" => false,
        "family" => *value != model.family,
        "size" => *value != model.size,
        _ => true,
    };
    let mut coordinates: Vec<_> =
        model.coordinates.iter().filter(|coordinate| identifies_training(coordinate)).collect();
    coordinates.sort();
    coordinates
}

/// The settings that occur, each once, by name.
fn values(runs: &[&TestResult]) -> Vec<[Option<f64>; 5]> {
    let mut values: Vec<[Option<f64>; 5]> = Vec::new();
    for run in runs {
        if !values.contains(&run.settings.values()) {
            values.push(run.settings.values());
        }
    }
    values
}

fn rows(model: &Model, runs: &[&TestResult], paper: &PaperFacts) -> Vec<Row> {
    let settings = values(runs);
    let columns = Settings::NAMES.iter().enumerate().map(|(at, name)| {
        let cell = match settings.as_slice() {
            [] => TableCell::none(),
            [one] => settings::cell(one[at]),
            // Runs of one model with settings of their own: all of them, as words.
            several => {
                let each: BTreeMap<u64, f64> =
                    several.iter().filter_map(|one| one[at]).map(|value| (value.to_bits(), value)).collect();
                match each.values().collect::<Vec<_>>().as_slice() {
                    [] => TableCell::none(),
                    [one] => settings::cell(Some(**one)),
                    several => TableCell::text(
                        several.iter().map(|value| number::setting(**value)).collect::<Vec<_>>().join(", "),
                    ),
                }
            }
        };
        let cell = if cell.absent { cell } else { cell.with_sources(runs.iter().map(|run| &run.label)) };
        let printed = paper.chosen(&model.family, &model.size, ChoiceStage::SecondStage, name);
        PaperComparison::new(cell, printed, number::setting)
    });
    let columns: Vec<PaperComparison> = columns.collect();
    let head = [TableCell::text(model.name()), TableCell::text(model.size.clone())];
    comparison_rows(&head, (!runs.is_empty()).then_some("this run"), &columns)
}
