//! The board with and without a causal mask, along training.

use std::collections::BTreeMap;

use cwm_page::{Column, Row, Table, TableCell, escape_controls};

use crate::papers::board_vs_moves::common::id;
use crate::papers::board_vs_moves::curves::Curve;
use crate::papers::board_vs_moves::facts::Facts;
use crate::papers::board_vs_moves::groups::{Kind, nats};
use crate::papers::board_vs_moves::tables::{REPOSITORY, printed_row};

/// The arms: our names, and the repository's.
pub(crate) const MASKS: [(&str, &str); 2] = [("board/none", "fen_bidirectional"), ("board/causal", "fen_causal")];

/// Loss and best moves of each arm by step.
pub(crate) fn masks(curves: &[Curve], facts: &Facts) -> Table {
    let mut columns = vec![
        Column::text("Rows").naming_rows(),
        Column::text("Source").naming_rows(),
        Column::text("Size").naming_rows(),
        Column::number("Step").naming_rows(),
    ];
    for (arm, _) in MASKS {
        columns.extend(["Loss a move (nats)", "Best (%)"].map(|name| Column::number(name).under(arm)));
    }
    let mut ours: BTreeMap<(String, String, u64), Vec<TableCell>> = BTreeMap::new();
    for curve in curves {
        let Some((arm, seed)) = &curve.arm else { continue };
        let Some(place) = MASKS.iter().position(|(name, _)| *name == arm.name) else { continue };
        let mut source = if seed.is_empty() { "this run".to_owned() } else { format!("this run, seed {seed}") };
        if !arm.variant.is_empty() {
            source += &format!(", {}", arm.variant);
        }
        for (step, loss, best) in &curve.validation {
            let key = (escape_controls(&arm.size), escape_controls(&source), *step);
            let cells = ours.entry(key).or_insert_with(|| vec![TableCell::none(); 2 * MASKS.len()]);
            cells[2 * place] = TableCell::number(*loss, nats(*loss)).with_sources([&curve.label]);
            if let Some(best) = best {
                cells[2 * place + 1] = TableCell::percent(*best).with_sources([&curve.label]);
            }
        }
    }
    let ours = ours.into_iter().map(|((size, source, step), cells)| {
        let head = [
            TableCell::text(Kind::Controlled.name()),
            TableCell::text(source),
            TableCell::text(size),
            TableCell::count(step),
        ];
        vec![Row::ours(head.into_iter().chain(cells).collect())]
    });
    let groups: Vec<Vec<Row>> = ours.collect();
    Table {
        id: id("masks"),
        title: "The board with and without a causal mask, by step".into(),
        paper: None,
        caption: "Validation of the board's two arms along their training; only the mask differs. Beside it the logs of the authors' \
                  repository: another data set, size and batch, one run each, and no fact of the paper. There the causal model is level \
                  or ahead up to some 60,000 steps of 2,048 positions, so a small run cannot show the order of the two; and steps of \
                  runs with other batches are not the same steps."
            .into(),
        columns,
        not_run: if groups.is_empty() { Vec::new() } else { repository(facts) },
        groups,
        noun: "checkpoints",
        folds: true,
        ..Table::default()
    }
}

fn repository(facts: &Facts) -> Vec<Vec<Row>> {
    let mut steps: BTreeMap<u64, Vec<TableCell>> = BTreeMap::new();
    for (place, (_, row)) in MASKS.into_iter().enumerate() {
        for (step, loss, best) in facts.checkpoints(row) {
            let cells = steps.entry(step).or_insert_with(|| vec![TableCell::none(); 2 * MASKS.len()]);
            cells[2 * place] = TableCell::number(loss, nats(loss));
            cells[2 * place + 1] = TableCell::number(best, format!("{best:.2}"));
        }
    }
    let row = |(step, cells): (u64, Vec<TableCell>)| {
        let head = [
            TableCell::text(Kind::Papers.name()),
            TableCell::text(REPOSITORY),
            TableCell::none(),
            TableCell::count(step),
        ];
        vec![printed_row(head.into_iter().chain(cells).collect())]
    };
    steps.into_iter().map(row).collect()
}
