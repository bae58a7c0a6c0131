//! Counts of the games and positions that were played, labelled, encoded and dropped.

use cwm_page::{Column, Row, Table, TableCell, number};
use serde_json::Value;

use crate::papers::board_vs_moves::common::id;
use crate::papers::board_vs_moves::counts::CountedValue;
use crate::papers::board_vs_moves::play::ArmGames;

/// All counts, and the engines of matches.
pub(crate) fn data(counts: &[CountedValue], played: &[ArmGames]) -> Table {
    let mut groups: Vec<Vec<Row>> = Vec::new();
    for of_one in counts.chunk_by(|one, next| one.label == next.label) {
        groups.push(of_one.iter().map(counted).collect());
    }
    let mut engines: Vec<&[String; 3]> = played.iter().flat_map(|played| &played.engines).collect();
    engines.sort();
    groups.extend(engines.into_iter().map(|[label, name, digest]| {
        let value = TableCell::text(format!("{name} (BLAKE3 {digest})")).with_sources([label]);
        let words = [label.as_str(), "match", "engine of the games"].map(TableCell::text);
        vec![Row::ours(words.into_iter().chain([value]).collect())]
    }));
    Table {
        id: id("data"),
        title: "Games, positions, and what was dropped".into(),
        paper: None,
        caption: "As each stage counted it; reasons stand behind `dropped`. An engine's name does not name its program: the \
                  digest (BLAKE3) does. Labels of two engines, of one with other options, or of two numbers of nodes, are never to be read in \
                  one table."
            .into(),
        columns: vec![
            Column::text("Stage").naming_rows(),
            Column::text("Kind"),
            Column::text("What"),
            Column::number("Number"),
        ],
        groups,
        noun: "stages",
        shared_columns: 2,
        folds: true,
        ..Table::default()
    }
}

fn counted(counted: &CountedValue) -> Row {
    let CountedValue { label, stage, what, value } = counted;
    let value = match value {
        Value::Number(whole) if whole.is_u64() => TableCell::count(whole.as_u64().unwrap_or_default()),
        Value::Number(other) => {
            other.as_f64().map_or(TableCell::none(), |other| TableCell::number(other, number::setting(other)))
        }
        Value::String(text) => TableCell::text(text.clone()),
        _ => TableCell::none(),
    };
    let words = [label, stage, what].map(|word| TableCell::text(word.clone()));
    Row::ours(words.into_iter().chain([value.with_sources([label])]).collect())
}
