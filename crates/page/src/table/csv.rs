//! A table as CSV, for machines: many digits, deviations and intervals in columns of their own.

use super::{Table, TableCell};
use crate::number::plain;
use crate::plain_text::csv;

/// Further columns of a number: the ending of the column's name, and the number in it.
const MORE: [(&str, fn(&TableCell) -> Option<f64>); 3] = [
    ("sd", |cell| cell.deviation.as_ref().map(|(deviation, _)| *deviation)),
    ("low", |cell| cell.interval.as_ref().map(|interval| interval.low)),
    ("high", |cell| cell.interval.as_ref().map(|interval| interval.high)),
];

impl Table {
    /// The CSV file: of the table's fuller data where it has some. The first column is the kind of the row.
    pub fn csv(&self) -> String {
        let data = self.data();
        let rows = || data.all_groups().flat_map(|(group, _)| group);
        let more: Vec<Vec<_>> = (0..data.columns.len())
            .map(|index| {
                let any = |read: fn(&TableCell) -> Option<f64>| {
                    rows().any(|row| row.cells.get(index).is_some_and(|cell| read(cell).is_some()))
                };
                MORE.into_iter().filter(|(_, read)| any(*read)).collect()
            })
            .collect();
        let mut header = vec!["kind".to_owned()];
        for (key, more) in data.keys().into_iter().zip(&more) {
            header.extend(more.iter().map(|(ending, _)| format!("{key}_{ending}")));
            header.insert(header.len() - more.len(), key);
        }
        let mut text = header.join(",") + "\n";
        for row in rows() {
            let mut fields = vec![row.kind.name().to_owned()];
            for (cell, more) in row.cells.iter().zip(&more) {
                fields.push(field(cell));
                fields.extend(more.iter().map(|(_, read)| read(cell).map_or(String::new(), plain)));
            }
            text.push_str(&fields.join(","));
            text.push('\n');
        }
        text
    }
}

fn field(cell: &TableCell) -> String {
    match cell.value {
        Some(value) => plain(value),
        None if cell.is_none() => String::new(),
        None => csv(&cell.text),
    }
}
