//! Tables with a row for each run, or for each run and task.

use cwm_page::{Column, Row, Table, TableCell};

use super::{Unit, cell, count};
use crate::papers::reasoning::id;
use crate::papers::reasoning::measured::{MeasuredRun, Measurements, PREDICT, TASKS};

/// Verdicts, in the order of their columns.
const VERDICTS: [&str; 7] = ["right", "wrong", "not_a_candidate", "scored", "legal", "illegal", "unreadable"];

/// Kinds of claims, and the shares of true ones.
const CLAIMS: [(&str, &str); 3] =
    [("Moves", "referenced_accuracy"), ("Pieces", "pieces_accuracy"), ("Both", "claims_accuracy")];

/// Measures: heading, name and unit.
type Numbers<'a> = [(&'a str, &'a str, Unit)];

/// The table of mean rewards and verdicts, by task.
pub(crate) fn rewards(measured: &Measurements) -> Table {
    let verdicts = VERDICTS.map(|verdict| (format!("{} (%)", verdict.replace('_', " ")), format!("verdict_{verdict}")));
    let mut numbers = vec![("Reward", "reward", Unit::Score), ("Readable (%)", "readable", Unit::Percent)];
    numbers.extend(verdicts.iter().map(|(heading, measure)| (heading.as_str(), measure.as_str(), Unit::Percent)));
    Table {
        id: id("rewards"),
        title: "Rewards and verdicts".into(),
        caption: "Mean reward of the answers to each task, and the share of each verdict.".into(),
        folds: true,
        ..by_run(measured, &TASKS, ("Answers", "reward"), &numbers)
    }
}

/// The table of the quality of moves.
pub(crate) fn quality(measured: &Measurements) -> Table {
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
        ..by_run(measured, &[PREDICT], ("Legal moves", "rank"), &numbers)
    }
}

/// Signs of a reward that is gamed.
pub(crate) fn gaming(measured: &Measurements) -> Table {
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
        ..by_run(measured, &[PREDICT], ("Legal moves", "trivial"), &numbers)
    }
}

/// The table of the shares of answers that follow from the thinking.
pub(crate) fn grounded(measured: &Measurements) -> Table {
    let numbers = [("Grounded (%)", "grounded", Unit::Percent), ("Last claim (%)", "last", Unit::Percent)];
    Table {
        id: id("grounded"),
        title: "Answers that the thinking names".into(),
        caption: "Of readable answers to Predict move: the share whose move is a move claim of the thinking, and whose move is the last one.".into(),
        ..by_run(measured, &[PREDICT], ("Readable", "grounded"), &numbers)
    }
}

/// The table of claims and the shares of true ones.
pub(crate) fn claims(measured: &Measurements) -> Table {
    let numbers = ["Claims", "True (%)"];
    let columns = CLAIMS.iter().flat_map(|(kind, _)| numbers.map(|name| Column::number(name).under(*kind)));
    let cells = |player: &MeasuredRun, task: &str| -> Vec<TableCell> {
        let of_kind = |(_, measure): &(&str, &str)| {
            [count(player, task, measure), cell(Some(player), task, measure, Unit::Percent)]
        };
        CLAIMS.iter().flat_map(of_kind).collect()
    };
    Table {
        id: id("claims"),
        title: "Claims about the position".into(),
        paper: Some("Figure 16, Appendix F"),
        caption: "Moves and pieces that the text before the answer names, over all answers, and how many are true in the position. The rest is \
                  the rate of hallucination."
            .into(),
        ..table(measured, &TASKS, "claims_accuracy", columns.collect(), cells)
    }
}

/// A row for each run and each of `tasks` that has the measure `needed`; the first number counts its answers, below the
/// heading `counted`.
fn by_run(measured: &Measurements, tasks: &[&str], (counted, needed): (&str, &str), numbers: &Numbers) -> Table {
    let mut columns = vec![Column::number(counted)];
    columns.extend(numbers.iter().map(|(heading, ..)| Column::number(heading)));
    let cells = |player: &MeasuredRun, task: &str| {
        let mut cells = vec![count(player, task, needed)];
        cells.extend(numbers.iter().map(|(_, measure, unit)| cell(Some(player), task, measure, *unit)));
        cells
    };
    table(measured, tasks, needed, columns, cells)
}

/// A row for each run and each of `tasks` that has the measure `needed`, named by both where there are several tasks.
fn table(
    measured: &Measurements,
    tasks: &[&str],
    needed: &str,
    numbers: Vec<Column>,
    cells: impl Fn(&MeasuredRun, &str) -> Vec<TableCell>,
) -> Table {
    let mut groups = Vec::new();
    for (experiment, player, phase) in measured.runs() {
        for task in tasks.iter().filter(|task| player.measure(task, needed).is_some()) {
            let mut row = vec![
                TableCell::text(&experiment.name),
                phase.map_or(TableCell::none(), |phase| TableCell::text(phase.name())),
            ];
            row.extend((tasks.len() > 1).then(|| TableCell::text(*task)));
            row.extend(cells(player, task));
            groups.push(vec![Row::ours(row)]);
        }
    }
    let mut columns = ["Model", "After"].map(|name| Column::text(name).naming_rows()).to_vec();
    columns.extend((tasks.len() > 1).then(|| Column::text("Task").naming_rows()));
    columns.extend(numbers);
    Table { columns, groups, noun: "rows", ..Table::default() }
}
