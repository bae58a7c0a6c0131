//! A table in HTML, through a template that escapes whatever it is given.

use askama::Template;
use cwm_contract::Failure;

use super::{Align, Cell, Column, Row, RowKind, Table};
use crate::number::plain;

#[derive(Template)]
#[template(path = "table.html")]
struct View<'a> {
    table: &'a Table,
    /// Headings over columns with their widths, if any column has one.
    spans: Vec<(&'a str, usize)>,
    /// Ours first, then what only the paper has.
    parts: Vec<Part<'a>>,
}

/// One table element.
struct Part<'a> {
    groups: &'a [Vec<Row>],
    /// Whether the reader has to unfold it.
    folded: bool,
}

impl Table {
    /// The table element with its frame.
    pub(crate) fn html(&self) -> Result<String, Failure> {
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
        let ours = Part { groups: &self.groups, folded: false };
        // Where there is nothing else to see, the paper's part is the table.
        let papers = Part { groups: &self.not_run, folded: !self.groups.is_empty() };
        let parts = [ours, papers].into_iter().filter(|part| !part.groups.is_empty()).collect();
        let view = View { table: self, spans, parts };
        view.render().map_err(|error| Failure::internal(format!("cannot draw {}: {error}", self.id)))
    }
}

impl Part<'_> {
    /// Keeps ids apart: no table's name has a dot.
    fn suffix(&self) -> &'static str {
        if self.folded { ".paper" } else { "" }
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

impl RowKind {
    fn class(self) -> &'static str {
        match self {
            RowKind::Ours => "ours",
            RowKind::Paper => "paper",
            RowKind::Difference => "difference",
        }
    }
}

impl Cell {
    fn class(&self, column: &Column) -> String {
        format!("{}{}", column.class(), if self.absent { " absent" } else { "" })
    }

    fn plain_value(&self) -> Option<String> {
        self.value.map(plain)
    }
}
