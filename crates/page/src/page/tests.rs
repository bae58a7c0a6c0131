//! Pages of any chapters.

use super::*;
use crate::table::{Column, Row, TableCell};

fn table(id: &str) -> Table {
    let groups = vec![vec![Row::ours(vec![TableCell::count(1).with_sources(&["a".to_owned()])])]];
    Table {
        id: id.into(),
        title: format!("Table {id}"),
        columns: vec![Column::number("N")],
        groups,
        ..Table::default()
    }
}

fn chapter(title: &str, sections: Vec<Section>) -> Chapter {
    Chapter { title: title.into(), summary: format!("Summary of {title}."), sections, ..Chapter::default() }
}

fn section(id: &str, blocks: Vec<Block>) -> Section {
    Section::new(id, "Results", "Results", blocks)
}

#[test]
fn a_page_carries_several_papers() {
    let both = ["First <paper>", "Second paper"].map(|title| {
        let blocks = vec![Block::Table(table("table-2")), Block::Figure(Figure::default())];
        chapter(title, vec![section("results", blocks), section("empty", vec![Block::Table(Table::default())])])
    });
    let page = Page::new("Both", both.into());
    let html = page.html().unwrap();
    for part in
        ["<h2>First &#60;paper&#62;</h2>", "<h2>Second paper</h2>", "Summary of Second paper.", "id=\"table-2-2\""]
    {
        assert!(html.contains(part), "{part}: {html}");
    }
    for once in ["<h2 id=\"results\">", "<h2 id=\"results-2\">", "href=\"#table-2-2\"", "id=\"cwm-sources\">[\"a\"]<"] {
        assert_eq!(html.matches(once).count(), 1, "{once}: {html}");
    }
    assert!(!html.contains("empty") && !html.contains("<figure"), "{html}");
    let folder = std::env::temp_dir().join(format!("cwm-page-{}", std::process::id()));
    page.write(&folder).unwrap();
    let index = std::fs::read_to_string(folder.join("tables/index.json")).unwrap();
    let files = ["table-2.csv", "table-2-2.json"].map(|name| folder.join("tables").join(name).exists());
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(files == [true; 2] && index.contains("\"tables/table-2-2.tex\""), "{index}");
}

#[test]
fn one_paper_needs_no_name() {
    let html =
        Page::new("One", vec![chapter("First", vec![section("a", vec![Block::Table(table("t"))])])]).html().unwrap();
    assert!(!html.contains("<h2>First</h2>") && html.contains("<p class=\"lead\">Summary of First.</p>"), "{html}");
}

#[test]
fn a_widget_brings_its_style_and_its_script() {
    let widget = Widget { html: "<p id=\"w\">".into(), style: ".w { color: red; }\n", script: "start();\n" };
    let page = |blocks| Page::new("One", vec![chapter("First", vec![section("a", blocks)])]).html().unwrap();
    let with = page(vec![Block::Widget(widget)]);
    for part in ["<p id=\"w\">", ".w { color: red; }\n</style>", "{\nstart();\n}\n"] {
        assert_eq!(with.matches(part).count(), 1, "{part}: {with}");
    }
    assert!(!page(vec![Block::Table(table("t"))]).contains("start()"));
}
