//! A table in LaTeX, set with booktabs as the paper sets its own.

use super::{Align, Cell, Row, RowKind, Table};
use crate::plain_text::latex;

/// Rows (of ours, the paper's and lines of intervals) that a page of a document takes; more go over several pages.
const ROWS_OF_A_PAGE: usize = 44;

impl Table {
    /// A table environment, or a longtable where it has many rows, to be read with `\input`.
    pub(crate) fn latex(&self) -> String {
        let lines = |groups: &[Vec<Row>]| -> Vec<Vec<String>> {
            let group = |group: &Vec<Row>| {
                let shared = |at: usize| if at == 0 { 0 } else { self.shared_columns };
                group.iter().enumerate().map(|(at, line)| row(line, shared(at))).collect()
            };
            groups.iter().map(group).collect()
        };
        let mut body = lines(&self.groups);
        let papers = lines(&self.not_run);
        if !body.is_empty() && !papers.is_empty() {
            let width = self.columns.len();
            body.push(vec![format!("\\multicolumn{{{width}}}{{l}}{{Not run here; the paper's numbers:}} \\\\\n")]);
        }
        body.extend(papers);
        let height: usize = body.iter().flatten().map(|row| row.lines().count()).sum();
        let body = body.iter().map(|group| group.concat()).collect::<Vec<_>>().join(self.between());
        let (columns, head) = (self.alignment(), self.head());
        let paper = self.paper.map_or(String::new(), |place| format!(" In the paper: {place}."));
        let caption = latex(&format!("{}. {}{paper}", self.title, self.caption));
        let label = format!("tab:{}", self.id);
        if height > ROWS_OF_A_PAGE {
            format!(
                "% needs \\usepackage{{booktabs,longtable}}\n\\begingroup\\footnotesize\n\\begin{{longtable}}{{{columns}}}\n\
                 \\caption{{{caption}}}\\label{{{label}}}\\\\\n\\toprule\n{head}\\midrule\n\\endfirsthead\n\
                 \\toprule\n{head}\\midrule\n\\endhead\n\\bottomrule\n\\endfoot\n{body}\\end{{longtable}}\n\\endgroup\n"
            )
        } else {
            format!(
                "% needs \\usepackage{{booktabs,graphicx}}\n\\begin{{table}}[tbp]\n\\centering\n\\small\n\
                 \\caption{{{caption}}}\\label{{{label}}}\n\
                 % No wider than the text.\n\\resizebox{{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}}{{!}}{{%\n\
                 \\begin{{tabular}}{{{columns}}}\n\\toprule\n{head}\\midrule\n{body}\\bottomrule\n\\end{{tabular}}}}\n\
                 \\end{{table}}\n"
            )
        }
    }

    /// What stands between groups: some room where they have several rows.
    fn between(&self) -> &'static str {
        let several = self.groups.iter().chain(&self.not_run).any(|group| group.len() > 1);
        if several { "\\addlinespace\n" } else { "" }
    }

    fn alignment(&self) -> String {
        self.columns.iter().map(|column| if column.align == Align::Left { 'l' } else { 'r' }).collect()
    }

    /// The headings: one line, or two where some stand over several columns.
    fn head(&self) -> String {
        let mut head = String::new();
        let spans = self.spans();
        if !spans.is_empty() {
            let (mut cells, mut rules) = (Vec::new(), String::new());
            let mut first = 1;
            for (over, width) in spans {
                let last = first + width - 1;
                cells.push(format!("\\multicolumn{{{width}}}{{c}}{{{}}}", latex(over)));
                if !over.is_empty() {
                    rules.push_str(&format!("\\cmidrule(lr){{{first}-{last}}}"));
                }
                first = last + 1;
            }
            head.push_str(&format!("{} \\\\\n{rules}\n", cells.join(" & ")));
        }
        let names: Vec<String> = self.columns.iter().map(|column| latex(&column.name)).collect();
        head.push_str(&format!("{} \\\\\n", names.join(" & ")));
        head
    }
}

/// A line, and a smaller one below with the intervals, if there are any. The first `shared` cells say what those above do.
fn row(row: &Row, shared: usize) -> String {
    let set = |text: String| match row.kind {
        RowKind::Ours => text,
        RowKind::Paper | RowKind::Difference if text.is_empty() => text,
        RowKind::Paper | RowKind::Difference => format!("\\textit{{{text}}}"),
    };
    let text = |cell: &Cell| match &cell.deviation {
        Some((_, deviation)) => latex(&format!("{} ± {deviation}", cell.text)),
        None => latex(&cell.text),
    };
    let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
    let cells = row.cells.iter().enumerate();
    let mut lines = line(cells.map(|(at, cell)| if at < shared { String::new() } else { set(text(cell)) }).collect());
    let interval = |cell: &Cell| match (&cell.deviation, cell.printed_interval()) {
        (None, Some(interval)) => format!("{{\\scriptsize {}}}", latex(interval)),
        _ => String::new(),
    };
    let intervals: Vec<String> = row.cells.iter().map(interval).collect();
    if intervals.iter().any(|text| !text.is_empty()) {
        lines.push_str(&line(intervals));
    }
    lines
}
