//! The games that `parse` and `import` kept and dropped, with reasons.

use cwm_page::{Column, Row, Table, TableCell};

use crate::papers::chess_world_model::read::counts::{Counts, LabelledCounts};

/// Games by fate for each stage that read any; `None` where none did.
pub(crate) fn drops(counts: &[LabelledCounts]) -> Option<Table> {
    let mut groups = Vec::new();
    let mut every = Vec::new();
    for labelled in counts {
        let Counts::Parse { read, kept, dropped } = &labelled.counts else {
            continue;
        };
        let row = |fate: String, games: u64| {
            let from = |cell: TableCell| cell.with_sources([&labelled.label]);
            let share =
                if *read > 0 { from(TableCell::percent(games as f64 / *read as f64)) } else { TableCell::none() };
            Row::ours(vec![
                TableCell::text(labelled.label.clone()),
                TableCell::text(fate),
                from(TableCell::count(games)),
                share,
            ])
        };
        let mut rows = vec![row("read".into(), *read), row("kept".into(), *kept)];
        every.push(rows.clone());
        let mut reasons: Vec<_> = dropped.iter().collect();
        reasons.sort_by_key(|(reason, games)| (std::cmp::Reverse(**games), *reason));
        for (reason, games) in reasons {
            every.push(vec![row(format!("dropped: {reason}"), *games)]);
            if *games > 0 {
                rows.push(row(format!("dropped: {}", reason.replace('_', " ")), *games));
            }
        }
        groups.push(rows);
    }
    let columns =
        vec![Column::text("Stage"), Column::text("Fate"), Column::number("Games"), Column::number("Share of read (%)")];
    (!groups.is_empty()).then(|| Table {
        id: "drops".into(),
        title: "Games kept and dropped".into(),
        caption:
            "What became of every game that was read, by stage and reason; the data files name also the reasons for \
                  which none was dropped."
                .into(),
        columns: columns.clone(),
        groups,
        shared_columns: 1,
        data: Some(Box::new(Table { columns, groups: every, shared_columns: 1, ..Table::default() })),
        ..Table::default()
    })
}
