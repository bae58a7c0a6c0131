//! A table in LaTeX, set with booktabs as the paper sets its own.

mod columns;

use super::{Cell, Column, Row, RowKind, Table};
use crate::plain_text::latex;
use columns::Width;

/// Half lines that a page of a document takes at the least, captions and headings among them.
const PAGE: usize = 2 * 50;
/// Half lines of a table's rules and of what stands around a caption.
const AROUND: usize = 8;
/// Letters of a caption that a line takes at the least.
const LINE: usize = 78;
/// Half lines of rows that a part has room for, however long its caption is.
const FEWEST: usize = 16;

impl Table {
    /// A table environment, or several pieces one below the other where a page cannot hold it, to be read with `\input`.
    /// What is wider than the text is cut into parts with some of the columns each: letters stay as large as they are.
    pub(crate) fn latex(&self) -> String {
        let paper = self.paper.map_or(String::new(), |place| format!(" In the paper: {place}."));
        let caption = latex(&format!("{}. {}{paper}", self.numbered_title(), self.caption));
        let caption_lines = caption.chars().count() / LINE + 1;
        let caption = format!("\\caption{{{caption}}}\\label{{tab:{}}}\n", self.id);
        let mut pieces: Vec<Block> = Vec::new();
        for part in self.briefly().side_by_side() {
            let (head, widths) = (part.head(), part.widths());
            let room = PAGE.saturating_sub(AROUND + 2 * head.lines().count());
            let first = if pieces.is_empty() { room.saturating_sub(2 * caption_lines) } else { room };
            let bodies = part.bodies(&widths, [first.max(FEWEST), room.max(FEWEST)]);
            pieces.extend(bodies.into_iter().map(|Block { text, height }| Block {
                text: part.tabular(&head, &text),
                height: height + AROUND + 2 * head.lines().count(),
            }));
        }
        const SETTING: &str = "\\centering\n\\footnotesize\n\\setlength{\\tabcolsep}{3pt}%\n";
        let mut text = String::from("% needs \\usepackage{booktabs,graphicx}\n");
        if pieces.iter().map(|piece| piece.height).sum::<usize>() + 2 * caption_lines <= PAGE || pieces.len() == 1 {
            let all: Vec<&str> = pieces.iter().map(|piece| piece.text.as_str()).collect();
            let all = all.join("\\par\\medskip\n");
            text.push_str(&format!("\\begin{{table}}[tbp]\n{SETTING}{caption}{all}\\end{{table}}\n"));
            return text;
        }
        // No floats: of those LaTeX keeps only so many.
        for (at, piece) in pieces.iter().enumerate() {
            let told = match at {
                0 => format!("\\expandafter\\def\\csname @captype\\endcsname{{table}}%\n{caption}"),
                _ => "\\tablename~\\thetable{} (continued)\\par\\medskip\n".to_owned(),
            };
            text.push_str(&format!(
                "\\par\\bigskip\\noindent\n\\begin{{minipage}}{{\\linewidth}}\n{SETTING}{told}{}\\end{{minipage}}\n",
                piece.text
            ));
        }
        text.push_str("\\par\\bigskip\n");
        text
    }

    /// A part with its rules. Letters of other fonts may be wider than was reckoned with: then it is made smaller.
    fn tabular(&self, head: &str, body: &str) -> String {
        let columns: String = self.columns.iter().map(|column| Width::column(column.align)).collect();
        format!(
            "% No wider than the text.\n\\resizebox{{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}}{{!}}{{%\n\
             \\begin{{tabular}}{{{columns}}}\n\\toprule\n{head}\\midrule\n{body}\\bottomrule\n\\end{{tabular}}}}\n"
        )
    }

    /// Its rows in as many parts as are needed for the first to be no higher than the one, the others no higher than the
    /// other number of half lines. Groups stay whole unless they are higher than that.
    fn bodies(&self, widths: &[Width], [first, other]: [usize; 2]) -> Vec<Block> {
        let between = self.between();
        let gap = usize::from(!between.is_empty());
        let mut ours: Vec<Block> =
            self.groups.iter().flat_map(|group| self.blocks(widths, group, first.min(other))).collect();
        let mut papers: Vec<Block> =
            self.not_run.iter().flat_map(|group| self.blocks(widths, group, first.min(other))).collect();
        if let (false, Some(block)) = (ours.is_empty(), papers.first_mut()) {
            let width = self.columns.len();
            let told = format!("\\multicolumn{{{width}}}{{l}}{{Not run here; the paper's numbers:}} \\\\\n");
            *block = Block { text: format!("{told}{between}{}", block.text), height: block.height + 2 + gap };
        }
        ours.extend(papers);
        let mut bodies = vec![Block { text: String::new(), height: 0 }];
        for block in ours {
            let room = if bodies.len() == 1 { first } else { other };
            if bodies.last().is_some_and(|body| body.height > 0 && body.height + gap + block.height > room) {
                bodies.push(Block { text: String::new(), height: 0 });
            }
            if let Some(body) = bodies.last_mut() {
                if body.height > 0 {
                    body.text.push_str(between);
                    body.height += gap;
                }
                body.text.push_str(&block.text);
                body.height += block.height;
            }
        }
        bodies
    }

    /// A group, cut where it is higher than so many half lines.
    fn blocks(&self, widths: &[Width], group: &[Row], highest: usize) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        for line in group {
            let wrapped = line.cells.iter().zip(widths).map(|(cell, width)| width.lines(&cell.text)).max().unwrap_or(1);
            let height = 2 * (row(line, 0, widths).lines().count() + wrapped - 1);
            match blocks.last_mut() {
                Some(block) if block.height + height <= highest => {
                    block.text.push_str(&row(line, self.shared_columns, widths));
                    block.height += height;
                }
                _ => blocks.push(Block { text: row(line, 0, widths), height }),
            }
        }
        blocks
    }

    /// What stands between groups: some room where they have several rows.
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

/// Rows that stay together.
struct Block {
    text: String,
    /// In half lines.
    height: usize,
}

/// A line, and a smaller one below with the intervals, if there are any. The first `shared` cells say what those above do.
fn row(row: &Row, shared: usize, widths: &[Width]) -> String {
    let set = |text: String| match row.kind {
        RowKind::Ours => text,
        RowKind::Paper | RowKind::Difference if text.is_empty() => text,
        RowKind::Paper | RowKind::Difference => format!("\\textit{{{text}}}"),
    };
    let text = |at: usize, cell: &Cell| match (&cell.deviation, widths.get(at)) {
        (Some((_, deviation)), _) => latex(&format!("{} ± {deviation}", cell.text)),
        (None, Some(width)) => width.set(&cell.text),
        (None, None) => latex(&cell.text),
    };
    let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
    let cells = row.cells.iter().enumerate();
    let mut lines =
        line(cells.map(|(at, cell)| if at < shared { String::new() } else { set(text(at, cell)) }).collect());
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
