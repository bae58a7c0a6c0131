//! Exposure bias: answers whose tokens follow the right ones (forced), and ones that follow the model's own (free).

use cwm_measures::Measure;
use cwm_page::{Column, Row, Table, TableCell};

use crate::papers::board_vs_moves::common::id;
use crate::papers::board_vs_moves::groups::{Group, Member, difference_cell, head_columns, members};
use crate::papers::board_vs_moves::tables::INTERVALS;

/// The comparisons: name, forced measure, free measure.
pub(crate) const FORCED_AND_FREE: [(&str, Measure, Measure); 3] = [
    ("Valid", Measure::ForcedValid, Measure::Valid),
    ("Legal", Measure::ForcedLegal, Measure::Legal),
    ("Best", Measure::ForcedBest, Measure::Best),
];

/// The arms whose answers have several tokens and were measured both forced and free; of one token both are the same.
pub(crate) fn answers_in_several_tokens(groups: &[Group]) -> impl Iterator<Item = Member<'_>> {
    members(groups).filter(|member| {
        let is_text = !matches!(member.measured().chooser.form.as_deref(), Some("board" | "moves"));
        is_text && member.mean(Measure::ForcedBest, |_| true).is_some()
    })
}

/// The table of valid, legal and best answers, forced and free.
pub(crate) fn exposure(groups: &[Group]) -> Table {
    let mut columns = head_columns();
    for (name, ..) in FORCED_AND_FREE {
        columns
            .extend(["Forced (%)", "Free (%)", "Difference (points)"].map(|column| Column::number(column).under(name)));
    }
    columns.push(Column::number("Positions"));
    let row = |member: Member| {
        let mut cells = member.head();
        for (_, forced, free) in FORCED_AND_FREE {
            let difference = member.group.compared.difference((member.place, forced), (member.place, free), |_| true);
            cells.extend([forced, free].map(|measure| member.cell(measure, |_| true).without_printed_interval()));
            cells.push(difference_cell(difference, true, [member.measured()]));
        }
        cells.push(TableCell::count(member.group.compared.positions.len() as u64));
        vec![Row::ours(cells)]
    };
    Table {
        id: id("exposure"),
        title: "Exposure bias".into(),
        paper: Some("Appendix C, Appendix D.6"),
        caption: format!(
            "Forced: the likeliest token at each place behind the right ones; free: behind its own. The difference is the exposure bias, \
             paired by position. The paper draws it as bars for 12,800 positions, before and after training, and its text has lost the \
             numbers: a modest drop of best moves, and more valid and legal ones when free. {INTERVALS}"
        ),
        columns,
        groups: answers_in_several_tokens(groups).map(row).collect(),
        noun: "arms",
        ..Table::default()
    }
}
