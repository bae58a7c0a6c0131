//! A table as CSV, for machines: many digits, deviations in columns of their own.

use super::{Cell, Table};
use crate::number::plain;
use crate::plain_text::csv;

impl Table {
    /// The CSV file: of the table's fuller data where it has some.
    pub(crate) fn csv(&self) -> String {
        if let Some(data) = &self.data {
            return data.csv();
        }
        let rows = || self.all_groups().flatten();
        let spreads: Vec<bool> = (0..self.columns.len())
            .map(|index| rows().any(|row| row.cells.get(index).is_some_and(|cell| cell.deviation.is_some())))
            .collect();
        let mut header = Vec::new();
        for (column, spread) in self.columns.iter().zip(&spreads) {
            header.push(csv(&column.full_name()));
            if *spread {
                header.push(csv(&format!("{} (sd)", column.full_name())));
            }
        }
        let mut text = header.join(",") + "\n";
        for row in rows() {
            let mut fields = Vec::new();
            for (cell, spread) in row.cells.iter().zip(&spreads) {
                fields.push(field(cell));
                if *spread {
                    fields.push(cell.deviation.as_ref().map_or(String::new(), |(deviation, _)| plain(*deviation)));
                }
            }
            text.push_str(&fields.join(","));
            text.push('\n');
        }
        text
    }
}

fn field(cell: &Cell) -> String {
    match cell.value {
        Some(value) => plain(value),
        None if *cell == Cell::none() => String::new(),
        None => csv(&cell.text),
    }
}
