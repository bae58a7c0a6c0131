//! Tables 8 to 10: test results of every model.

use std::collections::BTreeSet;

use cwm_page::{Column, MeanStd, PaperComparison, Row, Table, TableCell, comparison_rows, number};

use crate::papers::chess_world_model::facts::{Metric, PaperFacts};
use crate::papers::chess_world_model::format;
use crate::papers::chess_world_model::model::{ABLATIONS, MAIN_FAMILIES, Model, SIZES};
use crate::papers::chess_world_model::results::{Overall, Results, TestResult};
use crate::papers::chess_world_model::tables::remarks::loss_remarks;
use crate::papers::chess_world_model::tables::{EXACT_HEADING, metric_column, source};
use crate::papers::chess_world_model::test_set::TestSet;
use crate::papers::chess_world_model::training::Departures;

/// A metric of the tables.
struct MetricColumn {
    heading: &'static str,
    ours: fn(&Overall) -> Option<MeanStd>,
    /// Returns the value of one run.
    run: fn(&TestResult) -> Option<MeanStd>,
    paper: Metric,
    is_loss: bool,
}

/// In the tables' order.
const SHOWN: [MetricColumn; 4] = [
    MetricColumn { heading: "Loss", ours: |all| all.loss, run: |run| run.loss, paper: Metric::Loss, is_loss: true },
    MetricColumn {
        heading: "Labelwise (%)",
        ours: |all| Some(all.labelwise),
        run: |run| Some(run.labelwise),
        paper: Metric::Labelwise,
        is_loss: false,
    },
    MetricColumn {
        heading: EXACT_HEADING,
        ours: |all| Some(all.exact),
        run: |run| Some(run.exact),
        paper: Metric::Exact,
        is_loss: false,
    },
    MetricColumn {
        heading: "Trajectory (%)",
        ours: |all| Some(all.trajectory),
        run: |run| Some(run.trajectory),
        paper: Metric::Trajectory,
        is_loss: false,
    },
];

/// Table 8: every model but the ablations, the paper's two test sets side by side. Where neither was scored: every model on the
/// first two test sets, by their names.
pub(crate) fn test_results(results: &Results, paper: &PaperFacts) -> Table {
    let papers = TestSet::PAPER;
    let is_papers = papers.iter().any(|test| results.test(test).is_some());
    let (tests, families, belongs): (&[TestSet], &[&str], fn(&Model) -> bool) = if is_papers {
        (&papers, &MAIN_FAMILIES, |model| !is_ablation(model))
    } else {
        (&results.tests[..results.tests.len().min(2)], &[], |_| true)
    };
    Table {
        id: "table-08".into(),
        title: "Test results".into(),
        paper: is_papers.then_some("Table 8, Appendix D"),
        caption: format!(
            "A position is 75 labels: its 64 squares, and 11 for the turn, castling, en passant and the counters. Loss is \
             the mean cross-entropy over the labels; Labelwise the share of labels right; ExactState the share of positions \
             with all 75 right; Trajectory the share of games with every position exact. {}",
            remarks(results, tests, belongs)
        ),
        ..of_models(results, paper, tests, families, belongs)
    }
}

/// Table 9 or 10: the less expressive variants on one of the paper's test sets; `None` where none was scored at all.
pub(crate) fn ablations(results: &Results, paper: &PaperFacts, test: &TestSet) -> Option<Table> {
    let any = |test: &TestSet| {
        let models = results.models.iter().enumerate();
        models.filter(|(_, model)| is_ablation(model)).any(|(index, _)| overall(results, index, test).is_some())
    };
    if !TestSet::PAPER.iter().any(any) {
        return None;
    }
    let (id, title, place) = match test {
        TestSet::HeldOut => ("table-09", "Less expressive variants on held-out games", "Table 9, Appendix E"),
        _ => ("table-10", "Less expressive variants on random-uniform games", "Table 10, Appendix E"),
    };
    Some(Table {
        id: id.into(),
        title: title.into(),
        paper: Some(place),
        caption: format!(
            "Each with a simpler transition than its parent among the test results; the columns are as there. A recurrence that was \
             computed in other ways (scan) stands once for each. {}",
            remarks(results, std::slice::from_ref(test), is_ablation)
        ),
        ..of_models(results, paper, std::slice::from_ref(test), &ABLATIONS, is_ablation)
    })
}

fn is_ablation(model: &Model) -> bool {
    ABLATIONS.contains(&model.family.as_str())
}

/// Returns the remarks of captions on spreads, on departures from the paper's protocol and on differences, as far as
/// there are any.
fn remarks(results: &Results, tests: &[TestSet], belongs: fn(&Model) -> bool) -> String {
    let all = || results.overall.values();
    let mut remarks = String::new();
    if all().any(|overall| overall.runs > 1) {
        remarks.push_str(
            "Several runs (seeds) are shown as mean ± standard deviation, each by itself in the data files. ",
        );
    }
    if all().any(|overall| overall.runs == 1 && overall.exact.interval.is_some()) {
        remarks.push_str("In brackets the 95 % interval when the games are drawn anew with replacement (bootstrap). ");
    }
    remarks.push_str(&tests.iter().filter_map(|test| validated(results, test)).collect::<String>());
    if all().any(|overall| overall.departures.best > 0) {
        remarks.push_str(
            "Best checkpoint: not the last weights were tested, as the paper does, but those with the lowest validation \
             loss. ",
        );
    }
    remarks.push_str("Differences are ours less the paper's.");
    remarks.push_str(&loss_remarks(results, &tests.iter().collect::<Vec<_>>(), belongs));
    remarks
}

/// Returns the remark on a test set that is the games on which trainings were validated.
pub(super) fn validated(results: &Results, test: &TestSet) -> Option<String> {
    let at = results.test(test)?;
    let runs = results.overall.iter().filter(|((_, of), _)| *of == at).flat_map(|(_, overall)| &overall.each);
    let (validated, others): (Vec<&TestResult>, Vec<&TestResult>) = runs.partition(|run| run.validated);
    let how_many = match (validated.len(), others.is_empty()) {
        (0, _) => return None,
        (_, true) => "the trainings were".to_owned(),
        (number, false) => format!("{number} of the {} trainings were", number + others.len()),
    };
    let papers = if *test == TestSet::HeldOut { "; the paper tests on games of another month" } else { "" };
    Some(format!(
        "{test}: the same games that {how_many} validated on, by which hyper-parameters or weights may have been \
         chosen{papers}. "
    ))
}

/// Columns and rows of those models that `belongs` takes, and of the paper's `families` that were not run here.
fn of_models(
    results: &Results,
    paper: &PaperFacts,
    tests: &[TestSet],
    families: &[&str],
    belongs: fn(&Model) -> bool,
) -> Table {
    let scored: BTreeSet<&Model> = results
        .models
        .iter()
        .enumerate()
        .filter(|(index, model)| belongs(model) && tests.iter().any(|test| overall(results, *index, test).is_some()))
        .map(|(_, model)| model)
        .collect();
    let is_scored = |family: &str, size: &str| scored.iter().any(|model| model.family == family && model.size == size);
    let all = families.iter().flat_map(|family| SIZES.map(|size| (*family, size)));
    let not_run =
        all.filter(|&(family, size)| !is_scored(family, size)).map(|(family, size)| Model::new("", family, size));
    let not_run: Vec<_> = not_run.map(|model| rows(results, paper, tests, &model, false)).collect();
    let mut columns =
        vec![Column::text("Model").naming_rows(), Column::text("Size").naming_rows(), Column::text("Source")];
    for test in tests {
        let is_in_title = tests.len() == 1 && TestSet::PAPER.contains(test);
        let over = if is_in_title { String::new() } else { test.to_string() };
        columns.extend(SHOWN.iter().map(|shown| metric_column(shown.heading).under(&over)));
    }
    let groups = |each_run| -> Vec<Vec<Row>> {
        scored.iter().map(|model| rows(results, paper, tests, model, each_run)).collect()
    };
    let data = Table {
        columns: columns.clone(),
        groups: groups(true),
        not_run: not_run.clone(),
        noun: "models",
        shared_columns: 2,
        ..Table::default()
    };
    let data = Some(Box::new(data));
    Table { columns, groups: groups(false), not_run, noun: "models", shared_columns: 2, data, ..Table::default() }
}

/// Our row, with `each_run` a row for each of several runs, the paper's, and the difference, as far as they exist.
fn rows(results: &Results, paper: &PaperFacts, tests: &[TestSet], model: &Model, each_run: bool) -> Vec<Row> {
    let ours: Vec<Option<&Overall>> = match results.models.iter().position(|known| known == model) {
        Some(index) => tests.iter().map(|test| overall(results, index, test)).collect(),
        None => vec![None; tests.len()],
    };
    let columns: Vec<PaperComparison> = tests
        .iter()
        .zip(&ours)
        .flat_map(|(test, overall)| {
            SHOWN.iter().map(move |shown| {
                let printed = paper.test_result(&model.family, &model.size, test, &shown.paper);
                let print = if shown.is_loss { format::loss } else { number::two_decimals };
                let cell = overall
                    .map_or(TableCell::not_run(), |all| cell((shown.ours)(all), shown).with_sources(all.labels()));
                PaperComparison::new(cell, printed, print)
            })
        })
        .collect();
    let known = || ours.iter().flatten();
    let departures = known().map(|overall| overall.departures).fold(Departures::default(), Departures::max);
    let source = known().next().map(|_| source(known().map(|overall| overall.runs), departures));
    let head = [TableCell::text(model.name()), TableCell::text(model.size.clone())];
    let mut rows = comparison_rows(&head, source.as_deref(), &columns);
    if each_run && known().any(|overall| overall.runs > 1) {
        let seeds: BTreeSet<(Option<i64>, usize)> =
            known().flat_map(|overall| places(&overall.each)).map(|(key, _)| key).collect();
        let runs = seeds.into_iter().map(|key| run(&head, key, &ours));
        drop(rows.splice(1..1, runs));
    }
    rows
}

/// The runs by seed; those of one seed are numbered.
fn places(runs: &[TestResult]) -> impl Iterator<Item = ((Option<i64>, usize), &TestResult)> {
    runs.iter().enumerate().map(move |(at, run)| {
        let before = runs[..at].iter().filter(|other| other.seed == run.seed).count();
        ((run.seed, before), run)
    })
}

/// The row of one run: on each test set the one with that seed.
fn run(head: &[TableCell], key: (Option<i64>, usize), ours: &[Option<&Overall>]) -> Row {
    let name = key.0.map_or("a run".to_owned(), |seed| format!("seed {seed}"));
    let mut cells = head.to_vec();
    cells.push(TableCell::text(name));
    for overall in ours {
        let run = overall.and_then(|overall| places(&overall.each).find(|(other, _)| *other == key));
        cells.extend(SHOWN.iter().map(|shown| {
            run.map_or(TableCell::not_run(), |(_, run)| cell((shown.run)(run), shown).with_sources([&run.label]))
        }));
    }
    Row::ours(cells)
}

fn overall<'a>(results: &'a Results, model: usize, test: &TestSet) -> Option<&'a Overall> {
    results.overall.get(&(model, results.test(test)?))
}

fn cell(spread: Option<MeanStd>, shown: &MetricColumn) -> TableCell {
    match spread {
        None => TableCell::none(),
        Some(spread) if shown.is_loss => format::loss_cell(spread),
        Some(spread) => format::accuracy_cell(spread),
    }
}
