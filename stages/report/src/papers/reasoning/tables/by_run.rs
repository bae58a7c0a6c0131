//! Tables with a row for each run.

use cwm_page::{Cell, Column, Row, Table};

use super::{Unit, cell, count};
use crate::papers::reasoning::id;
use crate::papers::reasoning::measured::{Experiment, Measured, PREDICT, Phase, TASKS};

/// Verdicts, in the order of their columns.
const VERDICTS: [&str; 7] = ["right", "wrong", "not_a_candidate", "scored", "legal", "illegal", "unreadable"];

/// A measure and how it is printed, below its heading.
type Numbers<'a> = [(&'a str, &'a str, Unit)];

/// Mean rewards and verdicts, by task.
pub(crate) fn rewards(measured: &Measured) -> Table {
    let verdicts = VERDICTS.map(|verdict| (format!("{} (%)", verdict.replace('_', " ")), format!("verdict_{verdict}")));
    let mut numbers = vec![("Reward", "reward", Unit::Score), ("Readable (%)", "readable", Unit::Percent)];
    numbers.extend(verdicts.iter().map(|(heading, measure)| (heading.as_str(), measure.as_str(), Unit::Percent)));
    Table {
        id: id("rewards"),
        title: "Rewards and verdicts".into(),
        caption: "Mean reward of the answers to each task, and the share of each verdict.".into(),
        ..by_task(measured, "reward", "Answers", &numbers)
    }
}

/// How good moves are.
pub(crate) fn quality(measured: &Measured) -> Table {
    let tenths: Vec<(String, String)> =
        (0..10).map(|tenth| (format!("rank .{tenth} (%)"), format!("rank_{tenth}"))).collect();
    let mut numbers = vec![
        ("Average rank", "rank", Unit::Score),
        ("Best moves (%)", "best", Unit::Percent),
        ("Win probability lost (%)", "win_loss", Unit::Percent),
        ("Centipawns lost", "cp_loss", Unit::Centipawns),
        ("Illegal (%)", "verdict_illegal", Unit::Percent),
        ("Unreadable (%)", "verdict_unreadable", Unit::Percent),
    ];
    numbers.extend(tenths.iter().map(|(heading, measure)| (heading.as_str(), measure.as_str(), Unit::Percent)));
    Table {
        id: id("quality"),
        title: "Quality of moves".into(),
        paper: Some("Figure 6, Section 4"),
        caption: "Answers to Predict move. Ranks, best moves and losses are of legal moves; a rank of .3 is from .3 to below .4, and that of the best \
                  move is in the last tenth. Illegal and unreadable ones are of all answers."
            .into(),
        ..by_run(measured, "rank", "Legal moves", &numbers)
    }
}

/// Signs of a reward that is gamed.
pub(crate) fn gaming(measured: &Measured) -> Table {
    let numbers = [
        ("Trivial (%)", "trivial", Unit::Percent),
        ("Commonest move (%)", "commonest", Unit::Percent),
        ("Different moves (%)", "distinct", Unit::Percent),
    ];
    Table {
        id: id("gaming"),
        title: "Moves that need no look at the board".into(),
        caption: "Of legal answers to Predict move: the share of 16 trivial moves, of the commonest move, and different moves by answers. A model \
                  that games the reward makes few moves that are nearly always legal."
            .into(),
        ..by_run(measured, "trivial", "Legal moves", &numbers)
    }
}

/// Whether the answer follows from the thinking.
pub(crate) fn grounded(measured: &Measured) -> Table {
    let numbers = [("Grounded (%)", "grounded", Unit::Percent), ("Last claim (%)", "last", Unit::Percent)];
    Table {
        id: id("grounded"),
        title: "Answers that the thinking names".into(),
        caption: "Of readable answers to Predict move: the share whose move is a move claim of the thinking, and whose move is the last one.".into(),
        ..by_run(measured, "grounded", "Readable", &numbers)
    }
}

/// Claims, and how many are true.
pub(crate) fn claims(measured: &Measured) -> Table {
    let kinds = [("Moves", "referenced_accuracy"), ("Pieces", "pieces_accuracy"), ("Both", "claims_accuracy")];
    let rows = measured.runs().flat_map(|(experiment, player, phase)| {
        TASKS.iter().filter_map(move |task| {
            player.measure(task, "claims_accuracy")?;
            let mut cells = head(experiment, phase);
            cells.push(Cell::text(*task));
            for (_, measure) in kinds {
                cells.extend([count(player, task, measure), cell(Some(player), task, measure, Unit::Percent)]);
            }
            Some(vec![Row::ours(cells)])
        })
    });
    let groups = rows.collect();
    let mut columns = head_columns();
    columns.push(Column::text("Task").naming_rows());
    columns.extend(
        kinds.iter().flat_map(|(kind, _)| ["Claims", "True (%)"].map(|name| Column::number(name).under(*kind))),
    );
    Table {
        id: id("claims"),
        title: "Claims about the position".into(),
        paper: Some("Figure 16, Appendix F"),
        caption: "Moves and pieces that the text before the answer names, over all answers, and how many are true in the position. The rest is \
                  the rate of hallucination."
            .into(),
        columns,
        groups,
        noun: "runs",
        ..Table::default()
    }
}

/// A row for each run that has `needed` of Predict move; the first number is what that is of.
fn by_run(measured: &Measured, needed: &str, counted: &str, numbers: &Numbers) -> Table {
    let rows = measured.runs().filter(|(_, player, _)| player.measure(PREDICT, needed).is_some());
    let rows = rows.map(|(experiment, player, phase)| {
        let mut cells = head(experiment, phase);
        cells.push(count(player, PREDICT, needed));
        cells.extend(numbers.iter().map(|(_, measure, unit)| cell(Some(player), PREDICT, measure, *unit)));
        vec![Row::ours(cells)]
    });
    let groups = rows.collect();
    let mut columns = head_columns();
    columns.push(Column::number(counted));
    columns.extend(numbers.iter().map(|(heading, ..)| Column::number(heading)));
    Table { columns, groups, noun: "runs", ..Table::default() }
}

/// A row for each run and task that has `needed`.
fn by_task(measured: &Measured, needed: &str, counted: &str, numbers: &Numbers) -> Table {
    let rows = measured.runs().flat_map(|(experiment, player, phase)| {
        TASKS.iter().filter(|task| player.measure(task, needed).is_some()).map(move |task| {
            let mut cells = head(experiment, phase);
            cells.extend([Cell::text(*task), count(player, task, needed)]);
            cells.extend(numbers.iter().map(|(_, measure, unit)| cell(Some(player), task, measure, *unit)));
            vec![Row::ours(cells)]
        })
    });
    let groups = rows.collect();
    let mut columns = head_columns();
    columns.push(Column::text("Task").naming_rows());
    columns.push(Column::number(counted));
    columns.extend(numbers.iter().map(|(heading, ..)| Column::number(heading)));
    Table { columns, groups, noun: "rows", folds: true, ..Table::default() }
}

/// The cells that name a run.
fn head(experiment: &Experiment, phase: Option<Phase>) -> Vec<Cell> {
    vec![Cell::text(&experiment.name), phase.map_or(Cell::none(), |phase| Cell::text(phase.name()))]
}

fn head_columns() -> Vec<Column> {
    ["Model", "After"].map(|name| Column::text(name).naming_rows()).into()
}
