//! A table in LaTeX, set with booktabs.

mod columns;

use super::{Column, Row, RowKind, Table, TableCell};
use crate::plain_text::latex;
use columns::Width;

/// Half lines that a page of a document takes at the least, captions and headings among them.
const PAGE: usize = 2 * 50;
/// Half lines of a table's rules and of what stands around a caption.
const AROUND: usize = 8;
/// Letters of a caption that a line takes at the least.
const LINE: usize = 78;
/// A group of more rows than these may be broken between pages; each of its rows has its name.
const TOGETHER: usize = 12;

impl Table {
    /// A table environment where a page holds it, else a `longtable`, which breaks between pages; to be read with `\input`.
    /// A table that is wider than the text is cut into parts with some of the columns each, so that letters can be
    /// read.
    ///
    /// The caption leaves the number to LaTeX, which counts tables in its own way, and ends with the paper's.
    pub fn latex(&self) -> String {
        let paper = self.paper.map_or(String::new(), |place| format!(" In the paper: {place}."));
        let caption = latex(&format!("{}. {}{paper}", self.title, self.caption));
        let caption_height = 2 * (caption.chars().count() / LINE + 1);
        let caption = format!("\\caption{{{caption}}}\\label{{tab:{}}}", self.id);
        let table = self.abbreviated();
        let parts = table.split_columns(columns::WIDEST);
        if caption_height + parts.iter().map(Table::height).sum::<usize>() <= PAGE {
            let parts: Vec<String> = parts.iter().map(Table::tabular).collect();
            let parts = parts.join("\\par\\medskip\n");
            return format!(
                "% needs \\usepackage{{booktabs,graphicx}}\n\\begin{{table}}[tbp]\n\\centering\n{SETTING}{caption}\n{parts}\
                 \\end{{table}}\n"
            );
        }
        let parts = table.split_columns(columns::WIDEST_UNSCALED);
        let parts: Vec<String> =
            parts.iter().enumerate().map(|(at, part)| part.longtable((at == 0).then_some(&caption))).collect();
        format!(
            "% needs \\usepackage{{booktabs,longtable}} and text in one column\n\\begingroup\n{SETTING}\
             \\setlength{{\\LTcapwidth}}{{\\linewidth}}%\n% All rows at once, or columns would need several runs to find their width.\n\
             \\LTchunksize=1000\n{}\\endgroup\n",
            parts.concat()
        )
    }

    /// A part with its rules. Letters of other fonts may be wider than was reckoned with: then it is made smaller.
    fn tabular(&self) -> String {
        format!(
            "% No wider than the text.\n\\resizebox{{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}}{{!}}{{%\n\
             \\begin{{tabular}}{{{}}}\n\\toprule\n{}\\midrule\n{}\\bottomrule\n\\end{{tabular}}}}\n",
            self.letters(),
            self.head(),
            self.body(&self.widths())
        )
    }

    /// A part that may go over several pages, its head on each; in smaller letters where the text is narrower than it.
    /// The first part has the caption, the others continue it.
    fn longtable(&self, caption: Option<&String>) -> String {
        let (letters, head) = (self.letters(), self.head());
        let continued = "\\caption[]{(continued)}".to_owned();
        let same = if caption.is_some() { "" } else { "\\addtocounter{table}{-1}%\n" };
        let first = caption.unwrap_or(&continued);
        let width = self.width().ceil();
        format!(
            "{{\\ifdim\\linewidth<{width}pt\n{SMALLER}\\fi\n{same}\\begin{{longtable}}{{{letters}}}\n{first}\\\\\n\\toprule\n{head}\
             \\midrule\n\\endfirsthead\n{continued}\\\\\n\\toprule\n{head}\\midrule\n\\endhead\n\\bottomrule\n\\endfoot\n{}\
             {LAST}\\end{{longtable}}}}\n",
            self.body(&self.widths())
        )
    }

    /// Returns the column specification.
    fn letters(&self) -> String {
        self.columns.iter().map(|column| Width::column(column.align)).collect()
    }

    /// Returns the height in half lines, with rules and headings.
    fn height(&self) -> usize {
        let widths = self.widths();
        let row_height = |line: &Row| {
            let wrapped =
                line.cells.iter().zip(&widths).map(|(cell, width)| width.lines(&cell.text)).max().unwrap_or(1);
            2 * (lines(line, 0, &widths).len() + wrapped - 1)
        };
        let gap = usize::from(!self.between().is_empty());
        let groups: usize = self.all_groups().map(|(group, _)| gap + group.iter().map(row_height).sum::<usize>()).sum();
        let papers_begun = if self.groups.is_empty() || self.not_run.is_empty() { 0 } else { 2 };
        groups + papers_begun + AROUND + 2 * self.head().lines().count()
    }

    /// Its rows. Those of a group stay on one page, unless they are many.
    fn body(&self, widths: &[Width]) -> String {
        let between = self.between();
        let mut body = String::new();
        let mut papers_begun = self.groups.is_empty();
        for (group, ours) in self.all_groups() {
            if !body.is_empty() {
                body.push_str(between);
            }
            if !ours && !papers_begun {
                papers_begun = true;
                let width = self.columns.len();
                body +=
                    &format!("\\multicolumn{{{width}}}{{l}}{{Not run here; the paper's numbers:}} \\\\*\n{between}");
            }
            let stays = group.len() <= TOGETHER;
            for (at, line) in group.iter().enumerate() {
                let shared = if at > 0 && stays { self.shared_columns } else { 0 };
                let lines = lines(line, shared, widths);
                let last = lines.len() - 1;
                for (number, text) in lines.iter().enumerate() {
                    let may_break = number == last && (!stays || at + 1 == group.len());
                    body += &format!("{text} \\\\{}\n", if may_break { "" } else { "*" });
                }
            }
        }
        body
    }

    /// Returns the separator of groups: some room where they have several rows.
    fn between(&self) -> &'static str {
        let several = self.groups.iter().chain(&self.not_run).any(|group| group.len() > 1);
        if several { "\\addlinespace\n" } else { "" }
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
        let name = |column: &Column| match columns::lines_of(&column.name) {
            (name, "") => latex(name),
            (name, unit) => format!("\\shortstack[r]{{{}\\\\{}}}", latex(name), latex(unit)),
        };
        let names: Vec<String> = self.columns.iter().map(name).collect();
        head.push_str(&format!("{} \\\\\n", names.join(" & ")));
        head
    }
}

/// Small letters; those of intervals are smaller still. `\cwmwords` is a factor of the width of wrapped words.
const SETTING: &str =
    "\\footnotesize\n\\setlength{\\tabcolsep}{3pt}%\n\\def\\cwminterval{\\scriptsize}%\n\\def\\cwmwords{1}%\n";
/// The last row reaches as far below its baseline as it does: or LaTeX may break the page before it, without foot and head.
const LAST: &str = "\\noalign{\\nobreak\\vskip0pt}\n";
/// The next smaller ones.
const SMALLER: &str = "\\scriptsize\n\\setlength{\\tabcolsep}{2pt}%\n\\def\\cwminterval{\\fontsize{6}{7.2}\\selectfont}%\n\
                       \\def\\cwmwords{0.9}%\n";

/// A line, and a smaller one below with the intervals, if there are any. The first `shared` cells are equal to those above.
fn lines(row: &Row, shared: usize, widths: &[Width]) -> Vec<String> {
    let set = |text: String| match row.kind {
        RowKind::Ours => text,
        RowKind::Paper | RowKind::Difference if text.is_empty() => text,
        RowKind::Paper | RowKind::Difference => format!("\\textit{{{text}}}"),
    };
    let text = |at: usize, cell: &TableCell| match (&cell.deviation, widths.get(at)) {
        (Some((_, deviation)), _) => latex(&format!("{} ± {deviation}", cell.text)),
        (None, Some(width)) => width.set(&cell.text),
        (None, None) => latex(&cell.text),
    };
    let cells = row.cells.iter().enumerate();
    let cells: Vec<String> =
        cells.map(|(at, cell)| if at < shared { String::new() } else { set(text(at, cell)) }).collect();
    let interval = |cell: &TableCell| match (&cell.deviation, cell.printed_interval()) {
        (None, Some(interval)) => format!("{{\\cwminterval {}}}", latex(interval)),
        _ => String::new(),
    };
    let intervals: Vec<String> = row.cells.iter().map(interval).collect();
    let any = intervals.iter().any(|text| !text.is_empty());
    [Some(cells), any.then_some(intervals)].into_iter().flatten().map(|cells| cells.join(" & ")).collect()
}
