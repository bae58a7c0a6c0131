//! Tables as they stand on the page, as lines that tests can compare.

use std::path::Path;

/// The table as a heading, its caption, and a line with bars for each row, those that only the paper has at the end.
pub(super) fn page_table(report: &Path, id: &str) -> String {
    let page = super::read(report, "index.html");
    let start = format!("<div class=\"table\" id=\"{id}\">");
    let html = page.split(&start).nth(1).unwrap_or_else(|| panic!("the page has no table {id}"));
    let html = html.split("<p class=\"files\">").next().unwrap();
    let mut text = String::new();
    for (index, part) in html.split("<table>").skip(1).enumerate() {
        let (caption, rows) = part.split_once("</caption>").unwrap();
        if index == 0 {
            let (title, caption) = caption.split_once("</strong>").unwrap_or((caption, ""));
            text += &format!("# {}\n\n{}\n\n", words(&format!("<{title}")), words(&format!("<>{caption}")).trim());
        } else {
            text += "\nNot run here; the paper's numbers:\n\n";
        }
        let (head, body) = rows.split_once("</thead>").unwrap();
        let heads: Vec<Vec<TableCell>> = head.split("<tr>").skip(1).map(cells).collect();
        let over: Vec<&str> = match &heads[..] {
            [over, _] => over.iter().flat_map(|cell| vec![cell.text.as_str(); cell.columns]).collect(),
            _ => Vec::new(),
        };
        let names: Vec<String> = heads.last().unwrap().iter().map(|cell| cell.text.clone()).collect();
        let full = names.iter().enumerate().map(|(at, name)| match over.get(at) {
            Some(over) if !over.is_empty() => format!("{over}: {name}"),
            _ => name.clone(),
        });
        text += &line(full);
        let rule = |cell: &TableCell| if cell.is_number { "---:" } else { ":---" }.to_owned();
        text += &line(heads.last().unwrap().iter().map(rule));
        for group in body.split("<tbody>").skip(1) {
            let mut shared = Vec::new();
            for row in group.split("<tr").skip(1).map(cells) {
                if row.len() == names.len() {
                    shared = row.iter().filter(|cell| cell.is_shared).map(|cell| cell.text.clone()).collect();
                }
                let before = if row.len() == names.len() { Vec::new() } else { shared.clone() };
                text += &line(before.into_iter().chain(row.into_iter().map(|cell| cell.text)));
            }
        }
    }
    text
}

struct TableCell {
    text: String,
    columns: usize,
    is_shared: bool,
    is_number: bool,
}

fn cells(row: &str) -> Vec<TableCell> {
    let starts = ["<th", "<td"];
    let mut found = Vec::new();
    let mut rest = row.split("</tr>").next().unwrap();
    while let Some(at) = starts.iter().filter_map(|start| rest.find(start)).min() {
        let cell = &rest[at + 3..];
        let end = ["</th>", "</td>"].iter().filter_map(|end| cell.find(end)).min().unwrap();
        let attributes = cell.split('>').next().unwrap();
        let columns =
            attributes.split("colspan=\"").nth(1).map_or(1, |rest| rest.split('"').next().unwrap().parse().unwrap());
        found.push(TableCell {
            text: words(&format!("<{}", &cell[..end])),
            columns,
            is_shared: attributes.contains("rowspan"),
            is_number: attributes.contains("number"),
        });
        rest = &cell[end..];
    }
    found
}

/// The text between tags.
fn words(html: &str) -> String {
    let text: String = html.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text).collect();
    let entities = [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#38;", "&")];
    entities.iter().fold(text, |text, (entity, character)| text.replace(entity, character))
}

fn line(cells: impl Iterator<Item = String>) -> String {
    cells.map(|cell| format!("| {cell} ")).collect::<String>() + "|\n"
}
