//! Positions by their number of legal moves.

use cwm_page::{Column, Row, Table, TableCell};

use crate::papers::board_vs_moves::common::id;
use crate::papers::board_vs_moves::groups::Group;

/// Legal moves in a bin, and the largest number in the list of `prompt`.
const WIDTH: u16 = 10;
const LISTED: u16 = 60;

/// Counts the positions in each bin of 1 to 10, 11 to 20 and so on, up to the last that has any.
pub(crate) fn histogram(group: &Group) -> Vec<(String, u64)> {
    let bin = |legal_moves: u16| usize::from(legal_moves.saturating_sub(1) / WIDTH);
    let asked = &group.compared.positions;
    let last = asked.iter().map(|asked| bin(asked.legal_moves)).max();
    let number = |at: usize| asked.iter().filter(|asked| bin(asked.legal_moves) == at).count() as u64;
    let name = |at: usize| format!("{}–{}", at * usize::from(WIDTH) + 1, (at + 1) * usize::from(WIDTH));
    (0..last.map_or(0, |last| last + 1)).map(|at| (name(at), number(at))).collect()
}

/// Shares of positions by their number of legal moves.
pub(crate) fn legal_moves(groups: &[Group]) -> Table {
    let columns = vec![
        Column::text("Rows").naming_rows(),
        Column::text("Test set").naming_rows(),
        Column::text("Legal moves").naming_rows(),
        Column::number("Positions"),
        Column::number("Share (%)"),
    ];
    let rows = |group: &Group| {
        let all = group.compared.positions.len() as f64;
        let sources: Vec<String> = group.labels().collect();
        let row = |words: String, number: u64| {
            let head = [group.kind.name().to_owned(), group.test.clone(), words].map(TableCell::text);
            let numbers = [TableCell::count(number), TableCell::percent(number as f64 / all)]
                .map(|cell| cell.with_sources(&sources));
            Row::ours(head.into_iter().chain(numbers).collect())
        };
        let listed = group.compared.positions.iter().filter(|asked| asked.legal_moves <= LISTED).count() as u64;
        let mut rows: Vec<Row> = histogram(group).into_iter().map(|(name, number)| row(name, number)).collect();
        rows.push(row(format!("up to {LISTED}"), listed));
        rows
    };
    Table {
        id: id("legal-moves"),
        title: "Legal moves of the positions".into(),
        paper: Some("Appendix J"),
        caption: "Of the positions that all arms of a group were asked; the paper has 99.95 % with up to 60 legal moves, of ChessBench. \
                  Where `prompt` is among the arms, positions with more were asked of none."
            .into(),
        columns,
        groups: groups.iter().filter(|group| !group.compared.positions.is_empty()).map(rows).collect(),
        noun: "test sets",
        shared_columns: 2,
        ..Table::default()
    }
}
