//! A table in Markdown, as GitHub and most editors show it.

use super::{Align, Row, Table};
use crate::plain_text::markdown;

impl Table {
    /// A whole Markdown file: heading, caption, table.
    pub(crate) fn markdown(&self) -> String {
        let paper = self.paper.map_or(String::new(), |place| format!(" In the paper: {place}."));
        let mut text = format!("# {}\n\n{}{paper}\n\n", markdown(&self.numbered_title()), markdown(&self.caption));
        if !self.groups.is_empty() {
            self.rows(&mut text, &self.groups);
        }
        if !self.not_run.is_empty() {
            text.push_str(if self.groups.is_empty() { "" } else { "\n" });
            text.push_str("Not run here; the paper's numbers:\n\n");
            self.rows(&mut text, &self.not_run);
        }
        text
    }

    fn rows(&self, text: &mut String, groups: &[Vec<Row>]) {
        line(text, self.columns.iter().map(|column| markdown(&column.full_name())));
        line(
            text,
            self.columns.iter().map(|column| match column.align {
                Align::Left => ":---".to_owned(),
                Align::Right => "---:".to_owned(),
            }),
        );
        for row in groups.iter().flatten() {
            line(text, row.cells.iter().map(|cell| markdown(&cell.full_text())));
        }
    }
}

fn line(text: &mut String, cells: impl Iterator<Item = String>) {
    for cell in cells {
        text.push_str("| ");
        text.push_str(&cell);
        text.push(' ');
    }
    text.push_str("|\n");
}
