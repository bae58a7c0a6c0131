//! Rates in parts of the positions: by ply, by number of legal moves, and by occurrence in training.

use cwm_measures::{Measure, SharedPosition};
use cwm_page::{Column, Row, Table, TableCell};

use crate::papers::board_vs_moves::common::id;
use crate::papers::board_vs_moves::groups::{Group, Member, head_columns, members};
use crate::papers::board_vs_moves::tables::INTERVALS;

/// First plies of the bins.
pub(crate) const PLY_BINS: [u32; 5] = [0, 10, 20, 40, 60];
/// First numbers of legal moves of the bins.
const MOBILITY_BINS: [u32; 6] = [1, 11, 21, 31, 41, 61];

const MEASURES: [(Measure, &str); 3] =
    [(Measure::Legal, "legal (%)"), (Measure::Best, "best (%)"), (Measure::MaskBest, "best by mask (%)")];

/// Returns the bin of a number; `None` below the first.
fn bin_of(starts: &[u32], number: u32) -> Option<usize> {
    starts.iter().rposition(|start| number >= *start)
}

/// The first and the last number of a bin: `10–19`, `60–`.
fn bin_name(starts: &[u32], bin: usize) -> String {
    starts.get(bin + 1).map_or_else(|| format!("{}–", starts[bin]), |next| format!("{}–{}", starts[bin], next - 1))
}

/// The name of a bin of plies.
pub(crate) fn ply_bin_name(bin: usize) -> String {
    bin_name(&PLY_BINS, bin)
}

impl Member<'_> {
    /// Returns true if a position, by place, is in a bin of plies.
    pub(crate) fn is_in_ply_bin(self, place: usize, bin: usize) -> bool {
        self.group.compared.positions[place].t.and_then(|t| bin_of(&PLY_BINS, t)) == Some(bin)
    }
}

/// Legal and best moves by ply.
pub(crate) fn by_ply(groups: &[Group]) -> Table {
    let names = (0..PLY_BINS.len()).map(ply_bin_name).collect();
    let caption = "Plies before the position, in the games that were asked. The first bin has the openings, which few games share with \
                 later bins: that an arm is better there may be memory. Positions without games have no ply.";
    binned(groups, ("by-ply", "Legal and best moves by ply", caption), names, |member, place, bin| {
        member.is_in_ply_bin(place, bin)
    })
}

/// Legal and best moves by number of legal moves.
pub(crate) fn by_mobility(groups: &[Group]) -> Table {
    let names = (0..MOBILITY_BINS.len()).map(|bin| bin_name(&MOBILITY_BINS, bin)).collect();
    let caption = "Legal moves of the position. Chance alone is right more often where there are few. Positions with more than 60 are asked of \
                 no arm of a group with `prompt`, whose list of moves ends there.";
    let mobility = |asked: &SharedPosition| bin_of(&MOBILITY_BINS, u32::from(asked.legal_moves));
    binned(
        groups,
        ("by-mobility", "Legal and best moves by number of legal moves", caption),
        names,
        move |member, place, bin| mobility(&member.group.compared.positions[place]) == Some(bin),
    )
}

/// Legal and best moves for positions that occur in training, by the first four fields of the FEN, and for others.
pub(crate) fn seen(groups: &[Group]) -> Table {
    let caption = "Whether training had the position, by placement, side to move, castling and en passant. Positions that were seen are \
                 mostly openings, so the two columns differ in more than memory; an arm is to be read in one column.";
    binned(
        groups,
        ("seen", "Positions that training had, and others", caption),
        vec!["Seen".into(), "Not seen".into()],
        |member, place, bin| member.measured().seen[place] == Some(bin == 0),
    )
}

fn binned(
    groups: &[Group],
    (name, title, caption): (&str, &str, &str),
    bins: Vec<String>,
    is_in: impl Fn(Member, usize, usize) -> bool,
) -> Table {
    let mut columns = head_columns();
    columns.push(Column::text("Measure"));
    columns.extend(bins.iter().map(|bin| Column::number(bin)));
    let rows = |member: Member| {
        let row = |words: &str, cells: Vec<TableCell>| {
            let head = member.head().into_iter().chain([TableCell::text(words)]);
            Row::ours(head.chain(cells).collect())
        };
        let number =
            |bin| (0..member.group.compared.positions.len()).filter(|place| is_in(member, *place, bin)).count() as u64;
        let numbers: Vec<u64> = (0..bins.len()).map(number).collect();
        if numbers.iter().all(|number| *number == 0) {
            return Vec::new();
        }
        let mut rows = vec![row("positions", numbers.into_iter().map(TableCell::count).collect())];
        for (measure, words) in MEASURES {
            let cells: Vec<TableCell> =
                (0..bins.len()).map(|bin| member.cell(measure, |place| is_in(member, place, bin))).collect();
            if cells.iter().any(|cell| !cell.is_none()) {
                rows.push(row(words, cells));
            }
        }
        rows
    };
    let shared_columns = head_columns().len();
    Table {
        id: id(name),
        title: title.to_owned(),
        paper: None,
        caption: format!("{caption} {INTERVALS}"),
        columns,
        groups: members(groups).map(rows).filter(|rows| !rows.is_empty()).collect(),
        noun: "arms",
        shared_columns,
        folds: true,
        ..Table::default()
    }
}
