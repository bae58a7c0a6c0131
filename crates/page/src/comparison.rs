//! Rows that belong together: our numbers, the paper's, and the difference.

use crate::facts::PrintedValue;
use crate::number;
use crate::table::{PAPER_ONLY, Row, RowKind, TableCell};

/// Our number in a column beside the paper's, in the same unit.
pub struct PaperComparison<'a> {
    /// Our number as measured; words where there is none.
    ours: TableCell,
    printed: Option<&'a PrintedValue>,
    /// Prints a difference.
    print: fn(f64) -> String,
    /// True if the paper's number is approximate.
    approximate: bool,
    /// True if it is a count, whose thousands are separated.
    counted: bool,
}

impl<'a> PaperComparison<'a> {
    /// A number that the paper may have, too; `print` is for the difference.
    pub fn new(ours: TableCell, printed: Option<&'a PrintedValue>, print: fn(f64) -> String) -> Self {
        PaperComparison { ours, printed, print, approximate: false, counted: false }
    }

    /// A count that the paper may have, too.
    pub fn count(ours: TableCell, printed: Option<&'a PrintedValue>) -> Self {
        PaperComparison { counted: true, ..PaperComparison::new(ours, printed, number::whole) }
    }

    /// A number that the paper does not have.
    pub fn without_paper(ours: TableCell) -> Self {
        PaperComparison::new(ours, None, number::setting)
    }

    /// Marks the paper's number as approximate.
    pub fn approximate(self) -> Self {
        PaperComparison { approximate: true, ..self }
    }

    fn papers(&self) -> TableCell {
        let text = |printed: &PrintedValue| match (self.approximate, self.counted) {
            (true, _) => format!("≈ {}", number::printed(&printed.text)),
            (_, true) => number::count(printed.value as u64),
            _ => number::printed(&printed.text),
        };
        self.printed.map_or(TableCell::none(), |printed| TableCell::number(printed.value, text(printed)))
    }

    fn difference(&self) -> TableCell {
        let (Some(ours), Some(printed)) = (self.ours.value, self.printed) else {
            return TableCell::none();
        };
        let difference = ours - printed.value;
        TableCell::number(difference, number::signed(difference, self.print)).with_sources(&self.ours.sources)
    }
}

/// Returns up to three rows, each of which begins with `head`: ours with its `source`, if it was run; the paper's, if
/// it has any of these numbers; the difference, if any number has both.
pub fn comparison_rows(head: &[TableCell], source: Option<&str>, columns: &[PaperComparison]) -> Vec<Row> {
    let row = |kind, source: &str, cells: &dyn Fn(&PaperComparison) -> TableCell| {
        let mut all = head.to_vec();
        all.push(TableCell::text(source));
        all.extend(columns.iter().map(cells));
        Row { kind, cells: all }
    };
    let mut rows = Vec::new();
    rows.extend(source.map(|source| row(RowKind::Ours, source, &|column| column.ours.clone())));
    if columns.iter().any(|column| column.printed.is_some()) {
        let paper = if source.is_some() { "paper" } else { PAPER_ONLY };
        rows.push(row(RowKind::Paper, paper, &|column| column.papers()));
        if source.is_some() && columns.iter().any(|column| !column.difference().is_none()) {
            rows.push(row(RowKind::Difference, "difference", &|column| column.difference()));
        }
    }
    rows
}
