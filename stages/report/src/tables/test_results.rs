//! Table 8 (with Tables 9 and 10 for the ablations): test results of every model.

use std::collections::BTreeSet;

use crate::model::{MAIN_FAMILIES, Model, SIZES};
use crate::number;
use crate::paper::{Metric, Paper, Printed};
use crate::results::{Overall, Results, Spread};
use crate::table::{Cell, Column, Row, RowKind, Table};
use crate::tables::{PAPER_ONLY, source};
use crate::test_set::TestSet;

/// The metrics of the table in its order: heading, number of ours, the paper's, and how they are printed.
struct Shown {
    heading: &'static str,
    ours: fn(&Overall) -> Option<Spread>,
    paper: Metric,
    is_loss: bool,
}

const SHOWN: [Shown; 4] = [
    Shown { heading: "Loss", ours: |overall| overall.loss, paper: Metric::Loss, is_loss: true },
    Shown {
        heading: "Labelwise (%)",
        ours: |overall| Some(overall.labelwise),
        paper: Metric::Labelwise,
        is_loss: false,
    },
    Shown { heading: "ExactState (%)", ours: |overall| Some(overall.exact), paper: Metric::Exact, is_loss: false },
    Shown {
        heading: "Trajectory (%)",
        ours: |overall| Some(overall.trajectory),
        paper: Metric::Trajectory,
        is_loss: false,
    },
];

/// The paper's two test sets side by side; its models that were not run here stand in it too, as not run.
pub(crate) fn test_results(results: &Results, paper: &Paper) -> Table {
    let tests = &TestSet::PAPER;
    let scored: BTreeSet<Model> = results
        .models
        .iter()
        .enumerate()
        .filter(|(index, _)| tests.iter().any(|test| overall(results, *index, test).is_some()))
        .map(|(_, model)| model.clone())
        .collect();
    let all = MAIN_FAMILIES.iter().flat_map(|family| SIZES.map(|size| (*family, size)));
    let not_run: Vec<Model> = all
        .filter(|(family, size)| !scored.iter().any(|model| model.family == *family && model.size == *size))
        .map(|(family, size)| Model::new("", family, size))
        .collect();
    let mut columns = vec![Column::text("Model"), Column::text("Size"), Column::text("Source")];
    for test in tests {
        columns.extend(SHOWN.iter().map(|shown| Column::number(shown.heading).under(test.to_string())));
    }
    Table {
        id: "table-08".into(),
        title: "Test results".into(),
        paper: Some("Table 8, Appendix D; Tables 9 and 10, Appendix E"),
        caption:
            "A position is 75 labels: its 64 squares, and 11 for the turn, castling, en passant and the counters. Loss \
                  is the mean cross-entropy over the labels; Labelwise the share of labels right; \
                  ExactState the share of positions with all 75 right; Trajectory the share of games with every \
                  position exact. Several runs (seeds) are shown as mean ± standard deviation; differences are ours \
                  less the paper's."
                .into(),
        columns,
        groups: scored.iter().map(|model| rows(results, paper, tests, model)).collect(),
        not_run: not_run.iter().map(|model| rows(results, paper, tests, model)).collect(),
        shared_columns: 2,
        data: None,
    }
}

/// Our row, the paper's, and the difference, as far as they exist.
fn rows(results: &Results, paper: &Paper, tests: &[TestSet], model: &Model) -> Vec<Row> {
    let ours: Vec<Option<&Overall>> = match results.models.iter().position(|known| known == model) {
        Some(index) => tests.iter().map(|test| overall(results, index, test)).collect(),
        None => vec![None; tests.len()],
    };
    let row = |kind, source: String, cells: Vec<Cell>| {
        let mut all = vec![Cell::text(model.name()), Cell::text(model.size.clone()), Cell::text(source)];
        all.extend(cells);
        Row { kind, cells: all }
    };
    let was_run = ours.iter().any(Option::is_some);
    let mut rows = Vec::new();
    if was_run {
        let runs = ours.iter().flatten().map(|overall| overall.runs);
        let measured = ours.iter().flat_map(|overall| SHOWN.iter().map(|shown| our_cell(*overall, shown))).collect();
        let diverged = ours.iter().flatten().map(|overall| overall.diverged).max().unwrap_or(0);
        rows.push(row(RowKind::Ours, source(runs, diverged), measured));
    }
    let printed = |test: &TestSet, shown: &Shown| -> Option<Printed> {
        paper.test_result(&model.family, &model.size, test, &shown.paper).cloned()
    };
    let cells = |cell: &dyn Fn(Option<&Overall>, Option<Printed>, &Shown) -> Cell| -> Vec<Cell> {
        let each = tests.iter().zip(&ours);
        each.flat_map(|(test, ours)| SHOWN.iter().map(|shown| cell(*ours, printed(test, shown), shown))).collect()
    };
    if tests.iter().any(|test| printed(test, &SHOWN[0]).is_some()) {
        let paper_row = cells(&|_, printed, shown| printed.map_or(Cell::none(), |printed| paper_cell(&printed, shown)));
        rows.push(row(RowKind::Paper, if was_run { "paper" } else { PAPER_ONLY }.into(), paper_row));
        if was_run {
            rows.push(row(RowKind::Difference, "difference".into(), cells(&difference)));
        }
    }
    rows
}

fn overall<'a>(results: &'a Results, model: usize, test: &TestSet) -> Option<&'a Overall> {
    results.overall.get(&(model, results.test(test)?))
}

fn our_cell(overall: Option<&Overall>, shown: &Shown) -> Cell {
    match overall.map(shown.ours) {
        None => Cell::not_run(),
        Some(None) => Cell::none(),
        Some(Some(spread)) if shown.is_loss => Cell::loss(spread),
        Some(Some(spread)) => Cell::accuracy(spread),
    }
}

/// With the paper's own digits; only powers of ten are set as we set them.
fn paper_cell(printed: &Printed, shown: &Shown) -> Cell {
    let text =
        if shown.is_loss && printed.text.contains('e') { number::loss(printed.value) } else { printed.text.clone() };
    Cell::number(printed.value, text)
}

fn difference(ours: Option<&Overall>, printed: Option<Printed>, shown: &Shown) -> Cell {
    let (Some(Spread { mean, .. }), Some(printed)) = (ours.and_then(shown.ours), printed) else {
        return Cell::none();
    };
    if shown.is_loss {
        let difference = mean - printed.value;
        Cell::number(difference, number::signed(difference, number::loss))
    } else {
        let difference = mean - printed.value / 100.0;
        Cell::number(difference * 100.0, number::signed(difference, number::percent))
    }
}
