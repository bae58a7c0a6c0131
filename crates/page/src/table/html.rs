//! A table in HTML, through a template that escapes whatever it is given.

use askama::Template;
use cwm_contract::Failure;

use super::sources::places;
use super::{Align, Column, Row, Table, TableCell};
use crate::number::plain;

#[derive(Template)]
#[template(path = "table.html")]
struct View<'a> {
    table: &'a Table,
    /// Headings over columns with their widths, if any column has one.
    spans: Vec<(&'a str, usize)>,
    /// Ours first, then what only the paper has.
    parts: Vec<Part<'a>>,
    /// All labels of the page.
    sources: &'a [String],
    /// Endings of the table's files with their names for people.
    files: Vec<(&'static str, &'static str)>,
}

/// One table element.
struct Part<'a> {
    groups: &'a [Vec<Row>],
    /// True if it is the paper's alone, set apart from ours.
    papers: bool,
    /// The text before it, where the reader has to unfold it.
    summary: Option<String>,
}

/// Rows that a table which folds shows at once.
const LONG: usize = 24;

impl View<'_> {
    /// Classes of a column that stays in view: the first one, and the second where both are names.
    fn pinned(&self, at: &usize) -> &'static str {
        let is_name = |at: usize| self.table.columns.get(at).is_some_and(|column| column.names_rows);
        match at {
            0 if is_name(0) && is_name(1) => " pin wide",
            0 => " pin",
            1 if is_name(0) && is_name(1) => " pin second",
            _ => "",
        }
    }

    /// Returns the sources of the cell's number, as places in the page's list of labels: `3 17`; `None` where it has
    /// none.
    fn places(&self, cell: &TableCell) -> Option<String> {
        let places: Vec<String> = places(self.sources, cell).map(|place| place.to_string()).collect();
        (!places.is_empty()).then(|| places.join(" "))
    }
}

impl Table {
    /// Returns the plural noun of its groups.
    fn noun(&self) -> &'static str {
        if self.noun.is_empty() { "rows" } else { self.noun }
    }

    /// The table element with its frame; `sources` are the labels of the page, sorted.
    ///
    /// # Errors
    /// The template fails, which is a mistake of ours.
    pub fn html(&self, sources: &[String]) -> Result<String, Failure> {
        let rows = self.groups.iter().map(Vec::len).sum::<usize>();
        let folded = (self.folds && rows > LONG).then(|| format!("{}: {rows} rows", self.numbered_title()));
        let ours = Part { groups: &self.groups, papers: false, summary: folded };
        // Where there is nothing else to see, the paper's part is the table.
        let apart = !self.groups.is_empty();
        let summary = format!("Not run here: {} of the paper's {}", self.not_run.len(), self.noun());
        let papers = Part { groups: &self.not_run, papers: apart, summary: apart.then_some(summary) };
        let parts = [ours, papers].into_iter().filter(|part| !part.groups.is_empty()).collect();
        let files = super::files::FORMATS.iter().map(|format| (format.ending, format.name)).collect();
        let view = View { table: self, spans: self.spans(), parts, sources, files };
        view.render().map_err(|error| Failure::internal(format!("cannot draw {}: {error}", self.id)))
    }

    /// Headings over columns with their widths; empty where no column has one.
    pub(super) fn spans(&self) -> Vec<(&str, usize)> {
        let mut spans: Vec<(&str, usize)> = Vec::new();
        for column in &self.columns {
            match spans.last_mut() {
                Some((over, width)) if *over == column.over => *width += 1,
                _ => spans.push((&column.over, 1)),
            }
        }
        if spans.iter().all(|(over, _)| over.is_empty()) {
            spans.clear();
        }
        spans
    }
}

impl Part<'_> {
    /// Keeps ids apart: no table's name has a dot.
    fn suffix(&self) -> &'static str {
        if self.papers { ".paper" } else { "" }
    }
}

impl Column {
    fn class(&self) -> &'static str {
        match self.align {
            Align::Left => "",
            Align::Right => "number",
        }
    }
}

impl TableCell {
    fn class(&self, column: &Column) -> String {
        format!("{}{}", column.class(), if self.absent { " absent" } else { "" })
    }

    fn plain_value(&self) -> Option<String> {
        self.value.map(plain)
    }
}
