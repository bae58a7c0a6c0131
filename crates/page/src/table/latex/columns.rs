//! Chooses the columns of a table that fit on a page side by side, in letters that can be read.

use super::super::{Align, PAPER_ONLY, RowKind, Table, TableCell};
use crate::plain_text::latex;

/// Points that the parts of a table may be wide: the text of LaTeX's `article`, which is narrower than that of most
/// papers, and so much more that letters of 8 points are still about 6.6 when they are made to fit.
pub(super) const WIDEST: f64 = 420.0;
/// The factor by which a table may be wider and still is not split: a part of one column would be a waste.
const A_LITTLE: f64 = 1.08;
/// Points that the parts may be wide if LaTeX's next smaller letters alone make them fit.
pub(super) const WIDEST_UNSCALED: f64 = 380.0;
/// Points between columns.
const BETWEEN: f64 = 6.0;
/// Wider than this words are wrapped.
const WIDEST_WORDS: f64 = 76.0;
/// Letters of intervals by those of numbers.
const SMALL: f64 = 0.875;

/// The width in which a column is set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Width {
    /// In points, without the space between columns.
    points: f64,
    wrapped: bool,
}

impl Width {
    /// Returns the letter for `tabular`.
    pub(super) fn column(align: Align) -> char {
        if align == Align::Left { 'l' } else { 'r' }
    }

    /// A text in this column as LaTeX sets it, in several lines where it is too long for one.
    pub(super) fn set(self, text: &str) -> String {
        let escaped = latex(text);
        match self.wraps(text) {
            true => {
                format!("\\parbox[t]{{\\cwmwords\\dimexpr{}pt\\relax}}{{\\raggedright {escaped}\\strut}}", self.points)
            }
            false => escaped,
        }
    }

    /// Lines that a text takes.
    pub(super) fn lines(self, text: &str) -> usize {
        if self.wraps(text) { (points(text) * 1.15 / self.points).ceil() as usize } else { 1 }
    }

    fn wraps(self, text: &str) -> bool {
        self.wrapped && points(text) > self.points
    }
}

impl Table {
    /// Returns the width of each column.
    pub(super) fn widths(&self) -> Vec<Width> {
        let rows = || self.groups.iter().chain(&self.not_run).flatten();
        let width = |at: usize| {
            let column = &self.columns[at];
            let widest = |read: &dyn Fn(&TableCell) -> f64| {
                rows().filter_map(|row| row.cells.get(at)).map(read).chain([heading(&column.name)]).fold(0.0, f64::max)
            };
            let (whole, word) =
                (widest(&of_cell), widest(&|cell| cell.text.split(' ').map(points).fold(0.0, f64::max)));
            let wrapped = column.align == Align::Left && whole > WIDEST_WORDS && word <= WIDEST_WORDS;
            Width { points: if wrapped { WIDEST_WORDS } else { whole }, wrapped }
        };
        (0..self.columns.len()).map(width).collect()
    }

    /// Returns the table with fewer words: that the paper's numbers at the end were not run here stands above them.
    pub(super) fn abbreviated(&self) -> Table {
        let mut table = self.clone();
        let differences = table.groups.iter_mut().flatten().filter(|row| row.kind == RowKind::Difference);
        for cell in differences.flat_map(|row| &mut row.cells).filter(|cell| cell.text == "difference") {
            cell.text = "diff.".to_owned();
        }
        for cell in table.not_run.iter_mut().flatten().flat_map(|row| &mut row.cells) {
            if cell.text == PAPER_ONLY && !self.groups.is_empty() {
                cell.text = "paper".to_owned();
            }
        }
        table
    }

    /// Returns the width in points, as set in letters of 8.
    pub(super) fn width(&self) -> f64 {
        self.widths().iter().map(|width| width.points + BETWEEN).sum()
    }

    /// The table itself where it is no wider than `widest` points; else parts that are not, each with the columns that name its
    /// rows. Columns below one heading stay together where they have room.
    pub(super) fn split_columns(&self, widest: f64) -> Vec<Table> {
        let widths = self.widths();
        let of = |columns: &[usize]| columns.iter().map(|at| widths[*at].points + BETWEEN).sum::<f64>();
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let little = if widest == WIDEST { A_LITTLE } else { 1.0 };
        if of(&all) <= widest * little {
            return vec![self.clone()];
        }
        let words = self.columns.iter().take_while(|column| column.align == Align::Left).count();
        let naming = |at: &usize| *at < words.max(self.shared_columns) || self.columns[*at].names_rows;
        let (names, numbers): (Vec<usize>, Vec<usize>) = all.into_iter().partition(naming);
        if numbers.is_empty() {
            return vec![self.clone()];
        }
        let room = widest - of(&names);
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for together in numbers.chunk_by(|one, next| self.columns[*one].over == self.columns[*next].over) {
            let named = !self.columns[together[0]].over.is_empty();
            match parts.last_mut() {
                // Unless the heading has room below it, it begins a part of its own.
                Some(part) if named && of(part) + of(together) <= room => part.extend(together),
                Some(_) | None if named && of(together) <= room => parts.push(together.to_vec()),
                _ => {
                    for at in together {
                        match parts.last_mut() {
                            Some(part) if of(part) + of(&[*at]) <= room => part.push(*at),
                            _ => parts.push(vec![*at]),
                        }
                    }
                }
            }
        }
        let part = |columns: Vec<usize>| self.with_columns(&[names.clone(), columns].concat());
        parts.into_iter().map(part).collect()
    }

    fn with_columns(&self, columns: &[usize]) -> Table {
        let groups = |groups: &[Vec<super::Row>]| {
            let row = |row: &super::Row| super::Row {
                kind: row.kind,
                cells: columns.iter().filter_map(|at| row.cells.get(*at).cloned()).collect(),
            };
            groups.iter().map(|group| group.iter().map(row).collect()).collect()
        };
        Table {
            columns: columns.iter().map(|at| self.columns[*at].clone()).collect(),
            groups: groups(&self.groups),
            not_run: groups(&self.not_run),
            shared_columns: self.shared_columns,
            ..Table::default()
        }
    }
}

/// A heading's two lines, where its unit has one of its own.
pub(super) fn lines_of(heading: &str) -> (&str, &str) {
    heading.strip_suffix(" (%)").map_or((heading, ""), |name| (name, "(%)"))
}

fn heading(name: &str) -> f64 {
    points(lines_of(name).0)
}

/// Returns the width of the wider of the number and its interval below.
fn of_cell(cell: &TableCell) -> f64 {
    let interval = cell.printed_interval().map_or(0.0, |interval| points(interval) * SMALL);
    match &cell.deviation {
        Some((_, deviation)) => points(&format!("{} ± {deviation}", cell.text)),
        None => points(&cell.text).max(interval),
    }
}

/// The approximate width of a text in Computer Modern at 8 points.
fn points(text: &str) -> f64 {
    let width = |letter: char| match letter {
        '.' | ',' | ' ' | '[' | ']' | '(' | ')' | 'i' | 'l' | 'j' | 't' | 'f' | 'r' | ':' | ';' | '\'' => 3.0,
        '⁰'..='⁹' | '¹' | '²' | '³' | '⁻' | '₂' => 3.5,
        'm' | 'w' | '%' | '−' | '×' | '±' | '+' | '=' | '$' | '<' | '>' | '&' | 'A'..='Z' => 6.5,
        _ => 4.3,
    };
    text.chars().map(width).sum()
}
