//! The answers of each arm in the same positions.

use cwm_page::{Column, Row, Table, TableCell, escape_controls};

use crate::papers::board_vs_moves::common::id;
use crate::papers::board_vs_moves::groups::Group;
use crate::papers::board_vs_moves::shown::{ArmAnswer, ShownPosition, shown};

/// The positions on the boards with every arm's answer.
pub(crate) fn positions(groups: &[Group]) -> Table {
    let naming =
        ["Rows", "Test set", "Ply", "Position (FEN)", "Best move"].map(|name| Column::text(name).naming_rows());
    let shared_columns = naming.len();
    let rows = |group: &Group| shown(group).map(|shown| rows(group, shown)).collect::<Vec<_>>();
    Table {
        id: id("positions"),
        title: "What each arm chooses in the same position".into(),
        paper: None,
        caption: "The positions on the boards above as text. A FEN can be set up in any chess program. They are examples, from which no rate \
                  follows."
            .into(),
        columns: naming.into_iter().chain(["Arm", "Answer", "It is"].map(Column::text)).collect(),
        groups: groups.iter().flat_map(rows).collect(),
        noun: "positions",
        shared_columns,
        folds: true,
        ..Table::default()
    }
}

fn rows(group: &Group, shown: ShownPosition) -> Vec<Row> {
    let asked = shown.position();
    let head = || {
        let ply = asked.t.map_or(TableCell::none(), |t| TableCell::count(u64::from(t)));
        let [kind, test] = [group.kind.name().to_owned(), group.test.clone()].map(TableCell::text);
        vec![
            kind,
            test,
            ply,
            TableCell::text(escape_controls(&asked.fen)),
            shown.best().map_or(TableCell::none(), TableCell::text),
        ]
    };
    let row = |answer: ArmAnswer| {
        let words = [answer.arm.clone(), escape_controls(answer.text), answer.class().to_owned()];
        Row::ours(head().into_iter().chain(words.map(TableCell::text)).collect())
    };
    shown.answers().map(row).collect()
}
