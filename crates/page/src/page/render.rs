//! The page as HTML: one file that needs no network, no framework and, to be read, no script.

use std::collections::BTreeMap;

use askama::Template;
use cwm_contract::{Failure, Label, provenance};

use super::{Block, Chapter, Page, Section, Widget, script};
use crate::figure::{FIGURE_STYLE, Figure, PALETTE};
use crate::table::{Table, sources};

/// The data of the template; all text in it is escaped there, drawn parts are not.
#[derive(Template)]
#[template(path = "page.html")]
struct View<'a> {
    title: &'a str,
    chapters: Vec<DrawnChapter<'a>>,
    /// The style sheets of the page and of its widgets.
    style: String,
    /// The labels that `data-from` counts in, as JSON.
    sources: String,
    /// The element that an export of the page fills.
    provenance: &'static str,
    script: String,
    /// The hash of the only script that the content policy lets run.
    script_hash: String,
}

struct DrawnChapter<'a> {
    chapter: &'a Chapter,
    stages: Vec<ScoredStage>,
    sections: Vec<DrawnSection<'a>>,
}

/// The cells of a stage that were scored.
struct ScoredStage {
    name: String,
    cells: usize,
    /// Values of each axis of its matrix, in the labels' order.
    axes: Vec<(String, String)>,
}

struct DrawnSection<'a> {
    section: &'a Section,
    /// Anchor and title of each table and figure, for the contents.
    entries: Vec<(String, &'a str)>,
    blocks: Vec<DrawnBlock<'a>>,
}

enum DrawnBlock<'a> {
    /// A table or a widget.
    Html(String),
    Figure {
        figure: &'a Figure,
        svg: String,
    },
}

impl Page {
    /// The whole page.
    ///
    /// # Errors
    /// A template fails, which is a mistake of ours.
    pub(super) fn html(&self) -> Result<String, Failure> {
        let sources = sources(self.blocks().filter_map(|block| match block {
            Block::Table(table) => Some(table),
            Block::Figure(_) | Block::Widget(_) => None,
        }));
        let widgets: Vec<&Widget> = self.blocks().filter_map(as_widget).collect();
        let script = script::script(widgets.iter().map(|widget| widget.script));
        let mut style = [PALETTE, FIGURE_STYLE, include_str!("page.css"), include_str!("provenance.css")].concat();
        widgets.iter().for_each(|widget| style += widget.style);
        let view = View {
            title: &self.title,
            chapters: self.chapters.iter().map(|chapter| draw(chapter, &sources)).collect::<Result<_, _>>()?,
            style,
            sources: script::embedded_json(&sources)?,
            provenance: provenance::PLACEHOLDER,
            script_hash: script::hash(&script),
            script,
        };
        view.render().map_err(|error| Failure::internal(format!("cannot draw the page: {error}")))
    }
}

fn as_widget(block: &Block) -> Option<&Widget> {
    match block {
        Block::Widget(widget) => Some(widget),
        Block::Table(_) | Block::Figure(_) => None,
    }
}

fn draw<'a>(chapter: &'a Chapter, sources: &[String]) -> Result<DrawnChapter<'a>, Failure> {
    let section = |section: &'a Section| {
        let blocks = section.blocks.iter().map(|block| match block {
            Block::Table(table) => Ok(DrawnBlock::Html(table.html(sources)?)),
            Block::Figure(figure) => Ok(DrawnBlock::Figure { figure, svg: figure.inline_svg() }),
            Block::Widget(widget) => Ok(DrawnBlock::Html(widget.html.clone())),
        });
        let entries = section.blocks.iter().filter_map(|block| match block {
            Block::Table(Table { id, title, .. }) => Some((id.clone(), title.as_str())),
            Block::Figure(Figure { id, title, .. }) => Some((format!("figure-{id}"), title.as_str())),
            Block::Widget(_) => None,
        });
        Ok(DrawnSection { section, entries: entries.collect(), blocks: blocks.collect::<Result<_, Failure>>()? })
    };
    Ok(DrawnChapter {
        chapter,
        stages: scored_stages(&chapter.labels),
        sections: chapter.sections.iter().map(section).collect::<Result<_, Failure>>()?,
    })
}

fn scored_stages(labels: &[String]) -> Vec<ScoredStage> {
    /// Values by axis, both in order of first sight.
    type Axes = Vec<(String, Vec<String>)>;
    let mut stages: BTreeMap<String, (usize, Axes)> = BTreeMap::new();
    for text in labels {
        let label = text.parse::<Label>().unwrap_or_else(|_| Label::stage(text.as_str()));
        let (cells, axes) = stages.entry(label.stage).or_default();
        *cells += 1;
        for (axis, value) in label.coordinates {
            let index = axes.iter().position(|(known, _)| *known == axis).unwrap_or_else(|| {
                axes.push((axis, Vec::new()));
                axes.len() - 1
            });
            if !axes[index].1.contains(&value) {
                axes[index].1.push(value);
            }
        }
    }
    let scored = |(name, (cells, axes)): (String, (usize, Axes))| ScoredStage {
        name,
        cells,
        axes: axes.into_iter().map(|(axis, values)| (axis, values.join(", "))).collect(),
    };
    stages.into_iter().map(scored).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_names_the_cells_by_stage_and_axis() {
        let labels = ["e[size=a,test=x]", "e[size=b,test=x]", "f"].map(str::to_owned);
        let stages = scored_stages(&labels);
        assert_eq!((stages[0].name.as_str(), stages[0].cells), ("e", 2));
        assert_eq!(stages[0].axes, [("size".to_owned(), "a, b".to_owned()), ("test".to_owned(), "x".to_owned())]);
        assert!(stages[1].axes.is_empty());
    }
}
