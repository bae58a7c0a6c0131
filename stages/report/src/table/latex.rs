//! A table in LaTeX, set with booktabs as the paper sets its own.

use super::{Align, Cell, Row, RowKind, Table};
use crate::plain_text::latex;

/// Half lines that a page of a document takes at the least, captions and headings among them.
const PAGE: usize = 2 * 38;
/// Half lines of a table's rules and of what stands around a caption.
const AROUND: usize = 6;
/// Letters of a caption that a line takes at the least.
const LINE: usize = 70;
/// Half lines of rows that a part has room for, however long its caption is.
const FEWEST: usize = 16;

impl Table {
    /// A table environment, or several pieces one below the other where a page cannot hold it, to be read with `\input`.
    pub(crate) fn latex(&self) -> String {
        let (columns, head) = (self.alignment(), self.head());
        let tabular = |body: &str| {
            format!(
                "% No wider than the text.\n\\resizebox{{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}}{{!}}{{%\n\
                 \\begin{{tabular}}{{{columns}}}\n\\toprule\n{head}\\midrule\n{body}\\bottomrule\n\\end{{tabular}}}}\n"
            )
        };
        let paper = self.paper.map_or(String::new(), |place| format!(" In the paper: {place}."));
        let caption = latex(&format!("{}. {}{paper}", self.numbered_title(), self.caption));
        let caption_lines = caption.chars().count() / LINE + 1;
        let caption = format!("\\caption{{{caption}}}\\label{{tab:{}}}\n", self.id);
        let room = PAGE.saturating_sub(AROUND + 2 * head.lines().count());
        let bodies = self.bodies([room.saturating_sub(2 * caption_lines).max(FEWEST), room.max(FEWEST)]);
        let mut text = String::from("% needs \\usepackage{booktabs,graphicx}\n");
        if let [body] = &bodies[..] {
            text.push_str(&format!(
                "\\begin{{table}}[tbp]\n\\centering\n\\small\n{caption}{}\\end{{table}}\n",
                tabular(body)
            ));
            return text;
        }
        // No floats: of those LaTeX keeps only so many.
        for (at, body) in bodies.iter().enumerate() {
            let told = match at {
                0 => format!("\\expandafter\\def\\csname @captype\\endcsname{{table}}%\n{caption}"),
                _ => "\\tablename~\\thetable{} (continued)\\par\\medskip\n".to_owned(),
            };
            text.push_str(&format!(
                "\\par\\bigskip\\noindent\n\\begin{{minipage}}{{\\linewidth}}\n\\centering\n\\small\n{told}{}\\end{{minipage}}\n",
                tabular(body)
            ));
        }
        text.push_str("\\par\\bigskip\n");
        text
    }

    /// Its rows in as many parts as are needed for the first to be no higher than the one, the others no higher than the
    /// other number of half lines. Groups stay whole unless they are higher than that.
    fn bodies(&self, [first, other]: [usize; 2]) -> Vec<String> {
        let between = self.between();
        let gap = usize::from(!between.is_empty());
        let mut ours: Vec<Block> = self.groups.iter().flat_map(|group| self.blocks(group, first.min(other))).collect();
        let mut papers: Vec<Block> =
            self.not_run.iter().flat_map(|group| self.blocks(group, first.min(other))).collect();
        if let (false, Some(block)) = (ours.is_empty(), papers.first_mut()) {
            let width = self.columns.len();
            let told = format!("\\multicolumn{{{width}}}{{l}}{{Not run here; the paper's numbers:}} \\\\\n");
            *block = Block { text: format!("{told}{between}{}", block.text), height: block.height + 2 + gap };
        }
        ours.extend(papers);
        let mut bodies = vec![String::new()];
        let mut height = 0;
        for block in ours {
            let room = if bodies.len() == 1 { first } else { other };
            if height > 0 && height + gap + block.height > room {
                bodies.push(String::new());
                height = 0;
            }
            if let Some(body) = bodies.last_mut() {
                if height > 0 {
                    body.push_str(between);
                }
                body.push_str(&block.text);
            }
            height += if height > 0 { gap + block.height } else { block.height };
        }
        bodies
    }

    /// A group, cut where it is higher than so many half lines.
    fn blocks(&self, group: &[Row], highest: usize) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        for line in group {
            let height = 2 * row(line, 0).lines().count();
            match blocks.last_mut() {
                Some(block) if block.height + height <= highest => {
                    block.text.push_str(&row(line, self.shared_columns));
                    block.height += height;
                }
                _ => blocks.push(Block { text: row(line, 0), height }),
            }
        }
        blocks
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

/// Rows that stay together.
struct Block {
    text: String,
    /// In half lines.
    height: usize,
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
