//! Any table: what it holds, apart from how a format draws it.

mod csv;
mod html;
mod markdown;

use crate::number;
use crate::results::Spread;

/// A table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// Name of its files, such as `table-08`.
    pub(crate) id: String,
    /// What it is, in a few words.
    pub(crate) title: String,
    /// Where the paper has it, such as `Table 8, Appendix D`.
    pub(crate) paper: Option<&'static str>,
    /// What stands in it, in a sentence or two.
    pub(crate) caption: String,
    pub(crate) columns: Vec<Column>,
    /// Rows that belong together, such as a model's own and the paper's; sorting keeps them so.
    pub(crate) groups: Vec<Vec<Row>>,
    /// Groups of which only the paper has numbers; set apart from those above.
    pub(crate) not_run: Vec<Vec<Row>>,
    /// The first so many columns say the same in all rows of a group.
    pub(crate) shared_columns: usize,
    /// What the CSV file holds instead, where that is more than a reader wants to see.
    pub(crate) data: Option<Box<Table>>,
}

impl Table {
    /// Whether it has no rows at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.not_run.is_empty()
    }

    /// All groups, the paper's own last.
    fn all_groups(&self) -> impl Iterator<Item = &Vec<Row>> {
        self.groups.iter().chain(&self.not_run)
    }
}

/// A column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    /// Heading over neighbouring columns with the same one; empty for none.
    pub(crate) over: String,
    pub(crate) name: String,
    pub(crate) align: Align,
}

/// Where a column's cells stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Align {
    #[default]
    Left,
    Right,
}

impl Column {
    /// A column of words.
    pub(crate) fn text(name: &str) -> Self {
        Column { over: String::new(), name: name.to_owned(), align: Align::Left }
    }

    /// A column of numbers.
    pub(crate) fn number(name: &str) -> Self {
        Column { over: String::new(), name: name.to_owned(), align: Align::Right }
    }

    /// The same column below the heading `over`.
    pub(crate) fn under(self, over: impl Into<String>) -> Self {
        Column { over: over.into(), ..self }
    }

    /// Both headings in one.
    fn full_name(&self) -> String {
        if self.over.is_empty() { self.name.clone() } else { format!("{}: {}", self.over, self.name) }
    }
}

/// What a row holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// What was measured here.
    #[default]
    Ours,
    /// What the paper printed.
    Paper,
    /// Ours less the paper's.
    Difference,
}

/// A row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub(crate) kind: RowKind,
    pub(crate) cells: Vec<Cell>,
}

impl Row {
    /// A row of what was measured here.
    pub(crate) fn ours(cells: Vec<Cell>) -> Self {
        Row { kind: RowKind::Ours, cells }
    }
}

/// A cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cell {
    /// As printed.
    pub(crate) text: String,
    /// The number behind it, for sorting and for machines.
    pub(crate) value: Option<f64>,
    /// Its standard deviation over runs, and how that is printed.
    pub(crate) deviation: Option<(f64, String)>,
    /// Whether it only says that there is nothing.
    pub(crate) absent: bool,
}

impl Cell {
    /// Words.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Cell { text: text.into(), ..Cell::default() }
    }

    /// A number and how it is printed.
    pub(crate) fn number(value: f64, text: impl Into<String>) -> Self {
        Cell { text: text.into(), value: Some(value), ..Cell::default() }
    }

    /// A count.
    pub(crate) fn count(number: u64) -> Self {
        Cell::number(number as f64, number::count(number))
    }

    /// A fraction, shown in percent.
    pub(crate) fn percent(fraction: f64) -> Self {
        Cell::number(fraction * 100.0, number::percent(fraction))
    }

    /// A loss, with its deviation where there are several runs.
    pub(crate) fn loss(spread: Spread) -> Self {
        Cell::spread(spread, number::loss, 1.0)
    }

    /// A fraction, shown in percent, with its deviation where there are several runs.
    pub(crate) fn accuracy(spread: Spread) -> Self {
        Cell::spread(spread, number::percent, 100.0)
    }

    fn spread(spread: Spread, print: fn(f64) -> String, unit: f64) -> Self {
        Cell {
            text: print(spread.mean),
            value: Some(spread.mean * unit),
            deviation: spread.deviation.map(|deviation| (deviation * unit, print(deviation))),
            absent: false,
        }
    }

    /// As printed, with its deviation.
    fn full_text(&self) -> String {
        match &self.deviation {
            Some((_, deviation)) => format!("{} ± {deviation}", self.text),
            None => self.text.clone(),
        }
    }

    /// This was not run.
    pub(crate) fn not_run() -> Self {
        Cell { text: "not run".to_owned(), absent: true, ..Cell::default() }
    }

    /// There is nothing to say here: no such number exists.
    pub(crate) fn none() -> Self {
        Cell { text: "–".to_owned(), absent: true, ..Cell::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table with every feature, and hostile text in every place where text from data can stand.
    fn table() -> Table {
        let hostile = "<b>|\"x\",'y'`&";
        let spread = Spread { mean: 0.25, deviation: Some(0.015) };
        Table {
            id: "table-08".into(),
            title: "Title <i>".into(),
            paper: Some("Table 8, Appendix D"),
            caption: "Caption & more.".into(),
            columns: vec![
                Column::text("Model"),
                Column::text("Source"),
                Column::number("Loss").under("Held-out"),
                Column::number("Exact (%)").under("Held-out"),
            ],
            groups: vec![
                vec![
                    Row::ours(vec![
                        Cell::text(hostile),
                        Cell::text("2 runs"),
                        Cell::loss(spread),
                        Cell::accuracy(spread),
                    ]),
                    Row {
                        kind: RowKind::Paper,
                        cells: vec![
                            Cell::text(hostile),
                            Cell::text("paper"),
                            Cell::number(0.3, "0.300000"),
                            Cell::none(),
                        ],
                    },
                ],
                vec![Row::ours(vec![
                    Cell::text("b"),
                    Cell::text("1 run"),
                    Cell::loss(Spread { mean: f64::INFINITY, deviation: None }),
                    Cell::not_run(),
                ])],
            ],
            not_run: vec![vec![Row {
                kind: RowKind::Paper,
                cells: vec![Cell::text("c"), Cell::text("paper"), Cell::number(0.5, "0.500000"), Cell::none()],
            }]],
            shared_columns: 1,
            data: None,
        }
    }

    #[test]
    fn as_markdown() {
        let expected = "\
# Title &lt;i&gt;

Caption &amp; more. In the paper: Table 8, Appendix D.

| Model | Source | Held-out: Loss | Held-out: Exact (%) |
| :--- | :--- | ---: | ---: |
| &lt;b&gt;\\|\"x\",'y'\\`&amp; | 2 runs | 0.250000 ± 0.015000 | 25.00 ± 1.50 |
| &lt;b&gt;\\|\"x\",'y'\\`&amp; | paper | 0.300000 | – |
| b | 1 run | inf | not run |

Not run here; the paper's numbers:

| Model | Source | Held-out: Loss | Held-out: Exact (%) |
| :--- | :--- | ---: | ---: |
| c | paper | 0.500000 | – |
";
        assert_eq!(table().markdown(), expected);
    }

    #[test]
    fn as_csv() {
        let expected = "\
Model,Source,Held-out: Loss,Held-out: Loss (sd),Held-out: Exact (%),Held-out: Exact (%) (sd)
\"<b>|\"\"x\"\",'y'`&\",2 runs,0.25,0.015,25,1.5
\"<b>|\"\"x\"\",'y'`&\",paper,0.3,,,
b,1 run,inf,,not run,
c,paper,0.5,,,
";
        assert_eq!(table().csv(), expected);
    }

    #[test]
    fn as_html() {
        let html = table().html().unwrap();
        for part in [
            "<caption id=\"table-08-caption\">",
            "<th scope=\"colgroup\" colspan=\"2\">Held-out</th>",
            "<th scope=\"col\" class=\"number\"",
            "<th scope=\"rowgroup\" rowspan=\"2\">&#60;b&#62;|&#34;x&#34;,&#39;y&#39;`&#38;</th>",
            "<tr class=\"paper\">",
            "<td class=\"number\" data-value=\"0.25\">0.250000 <span>± 0.015000</span></td>",
            "<td class=\"number absent\">not run</td>",
        ] {
            assert!(html.contains(part), "{part} is not in\n{html}");
        }
        assert!(!html.contains("<b>") && !html.contains("<i>"), "{html}");
        let (ours, papers) = html.split_once("<details>").unwrap();
        assert_eq!(ours.matches("<tbody>").count(), 2);
        assert_eq!(papers.matches("<tbody>").count(), 1);
        assert!(papers.contains("<summary>Not run here: 1 of the paper's models</summary>"), "{papers}");
    }

    #[test]
    fn what_only_the_paper_has_is_not_hidden_where_it_is_all() {
        let html = Table { groups: Vec::new(), ..table() }.html().unwrap();
        assert!(
            !html.contains("<details>") && html.contains("Title &#60;i&#62;") && html.contains("0.500000"),
            "{html}"
        );
        assert!(Table::default().is_empty() && !Table { groups: Vec::new(), ..table() }.is_empty());
    }
}
