//! Rates and losses of each arm's choices.

use cwm_measures::Measure;
use cwm_page::{Column, PAPER_ONLY, Row, Table, TableCell};

use crate::papers::board_vs_moves::common::id;
use crate::papers::board_vs_moves::counts::CountedValue;
use crate::papers::board_vs_moves::facts::Facts;
use crate::papers::board_vs_moves::groups::{Group, Kind, Member, head_columns, members};
use crate::papers::board_vs_moves::tables::{INTERVALS, REPOSITORY, printed_row};
use crate::papers::board_vs_moves::training::Training;

const MEASURES: [(Measure, &str); 5] = [
    (Measure::Loss, "Loss a move (nats)"),
    (Measure::Valid, "Valid (%)"),
    (Measure::Legal, "Legal (%)"),
    (Measure::Best, "Best (%)"),
    (Measure::MaskBest, "Best by mask (%)"),
];

/// Arms of the paper and of its repository: name, row of the facts, and true for the repository's.
const PRINTED: [(&str, &str, bool); 5] = [
    ("board/none", "nanogpt_fen_bidirectional", false),
    ("characters/causal", "nanogpt_pgn", false),
    ("Llama 3.1, prompt", "llama", false),
    ("board/none", "fen_bidirectional", true),
    ("board/causal", "fen_causal", true),
];

/// The table of rates and losses on the positions that all arms of a group answered, with the paper's below.
pub(crate) fn arms(groups: &[Group], counts: &[CountedValue], facts: &Facts) -> Table {
    let mut columns = head_columns();
    columns.push(Column::text("Source"));
    let numbers = ["Parameters", "Trained positions", "Visits", "Steps", "Asked", "Positions"].map(Column::number);
    columns.extend(numbers.into_iter().chain(MEASURES.map(|(_, name)| Column::number(name))));
    let caption = format!(
        "A valid answer is a move, a legal one a move of this position, the best one the label; by mask is the likeliest of the legal \
         moves. All arms of a group (rows and test set) are measured on the positions that each of them was asked. Controlled rows \
         have the same games and labels; the paper's rows do not, so their best moves are of different test sets, as in the paper. \
         Labels are noisy: at 1,000 nodes Stockfish chooses another move than after a long search in a fourth of the positions. Trained \
         positions are different ones, of a list of moves its targets; visits are these times the epochs. Of a loss only that of a whole move is comparable between arms. {INTERVALS}{}",
        unlike(groups, counts)
    );
    Table {
        id: id("arms"),
        title: "Choosing the best move".into(),
        paper: Some("Sections 4.2 and 4.3"),
        caption,
        columns,
        groups: members(groups).map(|member| vec![ours(member, counts)]).collect(),
        not_run: if groups.is_empty() {
            Vec::new()
        } else {
            PRINTED.map(|printed| vec![printed_arm(printed, facts)]).into()
        },
        noun: "arms",
        ..Table::default()
    }
}

fn ours(member: Member, counts: &[CountedValue]) -> Row {
    let measured = member.measured();
    let known = |number: Option<u64>| number.map_or(TableCell::none(), TableCell::count);
    let mut cells = member.head();
    cells.push(TableCell::text(member.source()));
    let chooser = &measured.chooser;
    let training = Training::new(chooser, counts);
    cells.extend([chooser.parameters, training.positions(), training.visits(), chooser.steps].map(known));
    cells.extend([
        TableCell::count(measured.position_count),
        TableCell::count(member.group.compared.positions.len() as u64),
    ]);
    cells.extend(MEASURES.map(|(measure, _)| member.cell(measure, |_| true)));
    Row::ours(cells)
}

fn printed_arm((name, row, is_repository): (&str, &str, bool), facts: &Facts) -> Row {
    let source = if is_repository { REPOSITORY } else { PAPER_ONLY };
    // The repository's logs are of this size; the paper gives parameters.
    let size = if is_repository { TableCell::text("d512/l8") } else { TableCell::none() };
    let mut cells = vec![
        TableCell::text(Kind::Papers.name()),
        TableCell::none(),
        TableCell::text(name),
        size,
        TableCell::text(source),
    ];
    if is_repository {
        let last = facts.checkpoints(row).last().copied();
        let (step, loss, best) =
            last.map_or((TableCell::none(), TableCell::none(), TableCell::none()), |(step, loss, best)| {
                (
                    TableCell::count(step),
                    TableCell::number(loss, format!("{loss:.3}")),
                    TableCell::number(best, format!("{best:.2}")),
                )
            });
        cells.extend([
            TableCell::none(),
            TableCell::none(),
            TableCell::none(),
            step,
            TableCell::none(),
            TableCell::none(),
            loss,
        ]);
        cells.extend([TableCell::none(), TableCell::none(), best, TableCell::none()]);
    } else {
        // Small models are printed once, for both of them.
        let parameters = match row {
            "llama" => facts.cell("llama", "parameters", 1e9),
            _ => facts.cell("nanogpt", "parameters", 1e6),
        };
        let all = |column| facts.cell("all", column, 1.0);
        cells.extend([
            parameters,
            TableCell::none(),
            TableCell::none(),
            facts.value("all", "steps").map_or(TableCell::none(), |steps| TableCell::count(steps as u64)),
        ]);
        cells.extend([
            TableCell::none(),
            TableCell::none(),
            TableCell::none(),
            all("valid_and_legal"),
            all("valid_and_legal"),
        ]);
        cells.extend([facts.cell(row, "best_move", 1.0), TableCell::none()]);
    }
    printed_row(cells)
}

/// Returns the properties beyond input and mask in which controlled arms differ, as a sentence with a space before it.
fn unlike(groups: &[Group], counts: &[CountedValue]) -> String {
    let controlled = || members(groups).filter(|member| member.group.kind == Kind::Controlled).map(Member::measured);
    let differ = |of: &dyn Fn(&cwm_measures::ArmChoices) -> Option<String>| {
        let mut values: Vec<_> = controlled().map(of).collect();
        values.sort();
        values.dedup();
        values.len() > 1
    };
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    let mut found = Vec::new();
    for (words, differs) in [
        ("size", differ(&|arm| arm.chooser.size.clone())),
        ("number of trained positions", differ(&|arm| number(Training::new(&arm.chooser, counts).positions()))),
        ("number of visits", differ(&|arm| number(Training::new(&arm.chooser, counts).visits()))),
        ("number of steps", differ(&|arm| number(arm.chooser.steps))),
        ("number of seeds", differ(&|arm| number(Some(arm.labels.len() as u64)))),
    ] {
        if differs {
            found.push(words);
        }
    }
    match found.as_slice() {
        [] => String::new(),
        found => format!(" Controlled arms differ here in {}: that, too, may be what a row shows.", found.join(", ")),
    }
}
