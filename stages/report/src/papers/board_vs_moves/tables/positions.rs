//! What each arm chooses in the same positions.

use cwm_choices::Correctness;
use cwm_encoding::PlainMove;
use cwm_page::{Cell, Column, Row, Table, visible};

use crate::papers::board_vs_moves::common::id;
use crate::papers::board_vs_moves::groups::Group;

/// Positions of a group.
const SHOWN: usize = 12;

/// A few positions of each group with every arm's answer.
pub(crate) fn positions(groups: &[Group]) -> Table {
    // Of the first group that has any; a table has one set of arms.
    let group = groups.iter().find(|group| !group.compared.asked.is_empty());
    let mut columns: Vec<Column> =
        ["Ply", "Position (FEN)", "Best move"].map(|name| Column::text(name).naming_rows()).into();
    let members = || group.into_iter().flat_map(Group::members);
    columns.extend(members().map(|member| Column::text(&member.name())));
    let of = group.map_or_else(String::new, |group| format!(" ({}, {})", group.kind.words(), group.test));
    Table {
        id: id("positions"),
        title: "What each arm chooses in the same position".into(),
        paper: None,
        caption: format!(
            "Twelve of the positions that all arms were asked{of}, at equal distances when sorted by ply, so that nobody selected \
             them; the answers are those of the first seed. They are examples, from which no rate follows. A FEN can be set up in any \
             chess program."
        ),
        columns,
        groups: group.map(rows).unwrap_or_default(),
        noun: "positions",
        ..Table::default()
    }
}

fn rows(group: &Group) -> Vec<Vec<Row>> {
    let asked = &group.compared.asked;
    let mut places: Vec<usize> = (0..asked.len()).collect();
    places.sort_by_key(|place| (asked[*place].t, asked[*place].record));
    let shown = SHOWN.min(places.len());
    let row = |nth: usize| {
        let place = places[(2 * nth + 1) * places.len() / (2 * shown)];
        let position = &asked[place];
        let best = PlainMove::from_packed(position.best).map_or_else(String::new, |best| best.to_string());
        let ply = position.t.map_or(Cell::none(), |t| Cell::count(u64::from(t)));
        let mut cells = vec![ply, Cell::text(visible(&position.fen)), Cell::text(best)];
        cells.extend(group.members().map(|member| {
            let (text, answer) = &member.measured().answers[place];
            let what = match answer {
                Correctness { best: true, .. } => " (best)",
                Correctness { legal: true, .. } => "",
                Correctness { valid: true, .. } => " (illegal)",
                Correctness { .. } => " (no move)",
            };
            Cell::text(visible(text) + what)
        }));
        vec![Row::ours(cells)]
    };
    (0..shown).map(row).collect()
}
