//! The page and its files: chapters of sections of tables, figures and widgets.

mod render;
mod script;
mod write;

pub use script::embedded_json;

use std::collections::BTreeSet;

use crate::figure::Figure;
use crate::plain_text::escape_controls;
use crate::table::Table;

/// A report: one page, and the files of its tables and figures.
#[derive(Debug)]
pub struct Page {
    title: String,
    chapters: Vec<Chapter>,
}

/// The part of a page that one paper fills.
#[derive(Debug, Default)]
pub struct Chapter {
    /// Its name, which stands over its summary where a page has several chapters.
    pub title: String,
    /// The experiment, in a sentence or two.
    pub summary: String,
    /// Warnings that a reader should see before any number.
    pub warnings: Vec<String>,
    /// A part of the chapter that deserves to be seen first.
    pub highlight: Option<Link>,
    /// The source of the numbers beside ours, and how far they can be compared.
    pub comparison_note: String,
    /// Labels of the cells of the pipeline that were scored, sorted.
    pub labels: Vec<String>,
    /// In the order of the page.
    pub sections: Vec<Section>,
}

/// A link to a part of the page, within a sentence.
#[derive(Debug)]
pub struct Link {
    /// The part's anchor.
    pub anchor: &'static str,
    /// The words that are the link.
    pub words: &'static str,
    /// The rest of the sentence.
    pub rest: &'static str,
}

/// A section of a chapter.
#[derive(Debug)]
pub struct Section {
    /// Its anchor.
    pub id: String,
    /// The subject of its blocks.
    pub title: &'static str,
    /// Its title in a word or two, for the list of sections.
    pub menu: &'static str,
    /// In the order of the page.
    pub blocks: Vec<Block>,
}

/// One thing in a section.
#[derive(Debug)]
pub enum Block {
    /// A table.
    Table(Table),
    /// A figure.
    Figure(Figure),
    /// Anything else.
    Widget(Widget),
}

/// Something on the page beyond tables and figures, such as a view of games.
#[derive(Debug)]
pub struct Widget {
    /// Its elements, in which all text is escaped.
    pub html: String,
    /// Its part of the page's style sheet.
    pub style: &'static str,
    /// Its parts of the page's script, which share their names.
    pub script: &'static str,
}

impl Section {
    /// A section of these blocks.
    pub fn new(id: &str, title: &'static str, menu: &'static str, blocks: Vec<Block>) -> Self {
        Section { id: id.to_owned(), title, menu, blocks }
    }
}

impl Block {
    fn is_empty(&self) -> bool {
        match self {
            Block::Table(table) => table.is_empty(),
            Block::Figure(figure) => figure.is_empty(),
            Block::Widget(_) => false,
        }
    }
}

impl Page {
    /// A page of these chapters. Tables and figures without any number are left out, and sections with nothing in them; where
    /// two would have one name, the second gets a number.
    pub fn new(title: &str, mut chapters: Vec<Chapter>) -> Self {
        let [mut sections, mut tables, mut figures] = [const { BTreeSet::new() }; 3];
        for section in chapters.iter_mut().flat_map(|chapter| &mut chapter.sections) {
            section.blocks.retain(|block| !block.is_empty());
            if !section.blocks.is_empty() {
                make_unique(&mut section.id, &mut sections);
            }
            for block in &mut section.blocks {
                match block {
                    Block::Table(table) => make_unique(&mut table.id, &mut tables),
                    Block::Figure(figure) => make_unique(&mut figure.id, &mut figures),
                    Block::Widget(_) => {}
                }
            }
        }
        for chapter in &mut chapters {
            chapter.sections.retain(|section| !section.blocks.is_empty());
        }
        Page { title: escape_controls(title), chapters }
    }

    fn sections(&self) -> impl Iterator<Item = &Section> {
        self.chapters.iter().flat_map(|chapter| &chapter.sections)
    }

    fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.sections().flat_map(|section| &section.blocks)
    }
}

/// Test sets whose names differ only in odd characters, or tables of two papers, would share a file.
fn make_unique(id: &mut String, taken: &mut BTreeSet<String>) {
    let base = id.clone();
    let mut number = 2;
    while !taken.insert(id.clone()) {
        *id = format!("{base}-{number}");
        number += 1;
    }
}

#[cfg(test)]
mod tests;
