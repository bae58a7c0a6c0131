//! Tables 11 and 12: exact-state and labelwise accuracy by prefix length.

use std::collections::BTreeSet;

use cwm_page::{Column, MeanStd, PaperComparison, PrintedValue, Row, Table, TableCell, comparison_rows, number};

use crate::papers::chess_world_model::facts::{Metric, PaperFacts};
use crate::papers::chess_world_model::format;
use crate::papers::chess_world_model::model::{MAIN_FAMILIES, Model};
use crate::papers::chess_world_model::results::{PrefixBin, Results};
use crate::papers::chess_world_model::tables::test_results::validated;
use crate::papers::chess_world_model::tables::wider_bins::rebinned;
use crate::papers::chess_world_model::tables::{EXACT_HEADING, metric_column, source, table_id};
use crate::papers::chess_world_model::test_set::TestSet;
use crate::papers::chess_world_model::training::Departures;

/// The one size that the paper's tables are about.
const PAPER_SIZE: &str = "d512/l6";

/// The accuracy of one of the two tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accuracy {
    /// All 75 labels right: Table 11.
    Exact,
    /// Share of labels right: Table 12.
    Labelwise,
}

impl Accuracy {
    /// Returns the name for headings.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Accuracy::Exact => "ExactState",
            Accuracy::Labelwise => "Labelwise",
        }
    }

    /// The heading of its column.
    fn heading(self) -> &'static str {
        match self {
            Accuracy::Exact => EXACT_HEADING,
            Accuracy::Labelwise => "Labelwise (%)",
        }
    }

    /// Returns the accuracy in one bin.
    pub(crate) fn of(self, bin: &PrefixBin) -> MeanStd {
        match self {
            Accuracy::Exact => bin.exact,
            Accuracy::Labelwise => bin.labelwise,
        }
    }

    pub(crate) fn metric(self) -> Metric {
        match self {
            Accuracy::Exact => Metric::Exact,
            Accuracy::Labelwise => Metric::Labelwise,
        }
    }
}

/// The table for one test set: a selection of bins to read, all of them in its data. Where the paper has such a table, bins that
/// add up to the paper's are read as the paper's. Without a model that was scored on the test set it has no rows.
pub(crate) fn prefix_bins(results: &Results, paper: &PaperFacts, test: &TestSet, accuracy: Accuracy) -> Table {
    let papers = *test == TestSet::RandomUniform;
    let wider = papers.then(|| rebinned(results, PaperFacts::BIN_WIDTH)).flatten();
    let Some(wider) = wider else { return in_own_bins(results, paper, test, accuracy) };
    let mut table = in_own_bins(&wider, paper, test, accuracy);
    table.caption += &format!(
        " This run's bins of {} plies are added up to the paper's; in the data files they are as they were measured.",
        results.bin_width()
    );
    if let Some(data) = &mut table.data {
        data.groups = every_bin(results, paper, test, accuracy, scored(results, test).iter());
    }
    table
}

fn in_own_bins(results: &Results, paper: &PaperFacts, test: &TestSet, accuracy: Accuracy) -> Table {
    let width = results.bin_width();
    let comparable = width == PaperFacts::BIN_WIDTH;
    let papers = *test == TestSet::RandomUniform;
    let (base, place) = match accuracy {
        Accuracy::Exact => ("table-11", "Table 11, Appendix F"),
        Accuracy::Labelwise => ("table-12", "Table 12, Appendix F"),
    };
    let scored = scored(results, test);
    // Without a model of ours the paper's would stand alone.
    let not_run = if papers && comparable && !scored.is_empty() { not_run(&scored) } else { BTreeSet::new() };
    let shown = selected(results, test, papers && comparable);
    let mut columns =
        vec![Column::text("Model").naming_rows(), Column::text("Size").naming_rows(), Column::text("Source")];
    columns.extend(shown.iter().map(|start| Column::number(&format!("{start}–{}", start + width))));
    let note = match (papers, comparable) {
        (true, true) => "A dash means that no game is that long, or that the paper gives no number.",
        (true, false) => "The paper's bins are 20 plies wide and cannot be set beside these.",
        (false, _) => "A dash means that no game is that long.",
    };
    let validated = validated(results, test).unwrap_or_default();
    let note = format!("{note} {validated}");
    Table {
        id: table_id(base, test),
        title: format!("{} accuracy by prefix length, {}", accuracy.name(), test.phrase()),
        paper: papers.then_some(place),
        caption: format!(
            "Percent, in bins of {width} plies played, the start of the game being 0; a selection, the data files have every bin. \
             {}",
            note.trim_end()
        ),
        columns,
        groups: scored.iter().map(|model| rows(results, paper, test, accuracy, model, &shown)).collect(),
        not_run: not_run.iter().map(|model| rows(results, paper, test, accuracy, model, &shown)).collect(),
        noun: "models",
        shared_columns: 2,
        folds: false,
        data: Some(Box::new(Table {
            columns: every_bin_columns(accuracy),
            groups: every_bin(results, paper, test, accuracy, scored.iter()),
            not_run: every_bin(results, paper, test, accuracy, not_run.iter()),
            noun: "models",
            shared_columns: 5,
            ..Table::default()
        })),
    }
}

/// The models scored on `test`.
pub(super) fn scored(results: &Results, test: &TestSet) -> BTreeSet<Model> {
    let scored = results.models.iter().enumerate().filter(|(index, _)| !bins(results, *index, test).is_empty());
    scored.map(|(_, model)| model.clone()).collect()
}

/// Returns those of the paper's four models that are not among `scored`.
fn not_run(scored: &BTreeSet<Model>) -> BTreeSet<Model> {
    let families = MAIN_FAMILIES.into_iter();
    families
        .filter(|family| !scored.iter().any(|model| model.family == *family && model.size == PAPER_SIZE))
        .map(|family| Model::new("", family, PAPER_SIZE))
        .collect()
}

pub(super) fn bins<'a>(results: &'a Results, model: usize, test: &TestSet) -> &'a [PrefixBin] {
    results.test(test).and_then(|test| results.prefix.get(&(model, test))).map_or(&[], Vec::as_slice)
}

fn bins_of<'a>(results: &'a Results, model: &Model, test: &TestSet) -> &'a [PrefixBin] {
    results.models.iter().position(|known| known == model).map_or(&[], |index| bins(results, index, test))
}

/// Runs of `model` that depart from the paper's protocol.
pub(super) fn departures(results: &Results, model: &Model, test: &TestSet) -> Departures {
    let key = results.models.iter().position(|known| known == model).zip(results.test(test));
    key.and_then(|key| results.overall.get(&key)).map_or_else(Departures::default, |overall| overall.departures)
}

/// First steps of all bins in which any model was scored.
pub(super) fn starts(results: &Results, test: &TestSet) -> BTreeSet<u64> {
    let all = (0..results.models.len()).flat_map(|model| bins(results, model, test));
    all.map(|bin| bin.start).collect()
}

/// The paper's own selection, or one of our own.
fn selected(results: &Results, test: &TestSet, as_the_paper: bool) -> Vec<u64> {
    if as_the_paper { PaperFacts::SELECTED_BINS.to_vec() } else { spread_out(&starts(results, test)) }
}

/// Returns of all bins the first, the second, the third, the fifth, the ninth and so on, and the last: accuracy falls
/// fast at first, then slowly.
pub(super) fn spread_out(starts: &BTreeSet<u64>) -> Vec<u64> {
    let last = starts.len().saturating_sub(1);
    let shown = starts.iter().enumerate().filter(|(index, _)| *index == 0 || *index == last || index.is_power_of_two());
    shown.map(|(_, start)| *start).collect()
}

fn rows(
    results: &Results,
    paper: &PaperFacts,
    test: &TestSet,
    accuracy: Accuracy,
    model: &Model,
    shown: &[u64],
) -> Vec<Row> {
    let bins = bins_of(results, model, test);
    let columns: Vec<PaperComparison> = shown
        .iter()
        .map(|start| {
            let bin = bins.iter().find(|bin| bin.start == *start);
            // A line of seven intervals is no table to read.
            let cell = bin.map_or(TableCell::none(), |bin| cell(bin, accuracy).without_printed_interval());
            PaperComparison::new(cell, printed(results, paper, test, accuracy, model, *start), number::two_decimals)
        })
        .collect();
    let runs = bins.iter().map(|bin| bin.runs).max();
    let source = runs.map(|runs| source(std::iter::once(runs), departures(results, model, test)));
    comparison_rows(&[TableCell::text(model.name()), TableCell::text(model.size.clone())], source.as_deref(), &columns)
}

/// A bin's accuracy.
pub(super) fn cell(bin: &PrefixBin, accuracy: Accuracy) -> TableCell {
    format::accuracy_cell(accuracy.of(bin)).with_sources(&bin.labels)
}

/// Returns the paper's value for the bin that begins at `start`, where ours are as wide.
fn printed<'a>(
    results: &Results,
    paper: &'a PaperFacts,
    test: &TestSet,
    accuracy: Accuracy,
    model: &Model,
    start: u64,
) -> Option<&'a PrintedValue> {
    let printed = paper.bin(&model.family, &model.size, test, start, &accuracy.metric());
    printed.filter(|_| results.bin_width() == PaperFacts::BIN_WIDTH)
}

/// Groups for each model and bin; those of models that were not run hold the paper's bins.
pub(super) fn every_bin<'a>(
    results: &Results,
    paper: &PaperFacts,
    test: &TestSet,
    accuracy: Accuracy,
    models: impl Iterator<Item = &'a Model>,
) -> Vec<Vec<Row>> {
    let width = results.bin_width();
    let mut groups = Vec::new();
    for model in models {
        let bins = bins_of(results, model, test);
        let runs = bins.iter().map(|bin| bin.runs).max();
        let source = runs.map(|runs| source(std::iter::once(runs), departures(results, model, test)));
        let starts: BTreeSet<u64> = match bins {
            [] => PaperFacts::SELECTED_BINS.into(),
            bins => bins.iter().map(|bin| bin.start).collect(),
        };
        for start in starts {
            let bin = bins.iter().find(|bin| bin.start == start);
            let head = [
                TableCell::text(model.name()),
                TableCell::text(model.size.clone()),
                TableCell::text(test.data_name()),
                TableCell::count(start),
                TableCell::count(start + width),
            ];
            let count = |read: fn(&PrefixBin) -> u64| {
                PaperComparison::without_paper(
                    bin.map_or(TableCell::not_run(), |bin| TableCell::count(read(bin)).with_sources(&bin.labels)),
                )
            };
            let measured = bin.map_or(TableCell::not_run(), |bin| cell(bin, accuracy));
            let theirs = printed(results, paper, test, accuracy, model, start);
            let columns = [
                count(|bin| bin.runs as u64),
                count(|bin| bin.positions),
                PaperComparison::new(measured, theirs, number::two_decimals),
            ];
            groups.push(comparison_rows(&head, source.as_deref(), &columns));
        }
    }
    groups
}

/// The columns of [`every_bin`].
pub(super) fn every_bin_columns(accuracy: Accuracy) -> Vec<Column> {
    vec![
        Column::text("Model").naming_rows(),
        Column::text("Size").naming_rows(),
        Column::text("Test set").naming_rows(),
        Column::number("Bin start"),
        Column::number("Bin end"),
        Column::text("Source"),
        Column::number("Runs"),
        Column::number("Positions"),
        metric_column(accuracy.heading()),
    ]
}
