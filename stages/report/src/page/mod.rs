//! The page: one file that needs no network, no framework and, to be read, no script.

mod opening;
mod script;

pub(crate) use script::json;

use std::collections::BTreeMap;

use askama::Template;
use cwm_contract::{Failure, Label, provenance};

use crate::boards::Embedded;
use crate::contents::{Part, Section};
use crate::figure::{CHART_STYLE, Chart, PALETTE};
use crate::results::Results;

/// What the template shows; all text in it is escaped there, drawn parts are not.
#[derive(Template)]
#[template(path = "index.html")]
struct View<'a> {
    title: &'a str,
    opening: String,
    warnings: Vec<String>,
    stages: Vec<StageShown>,
    labels: &'a [String],
    sections: Vec<DrawnSection<'a>>,
    boards: Option<&'a Embedded>,
    /// How many sections stand before the boards.
    boards_after: usize,
    palette: &'static str,
    chart_style: &'static str,
    page_style: &'static str,
    /// The labels that `data-from` counts in, as JSON.
    sources: String,
    /// The element that whoever exports the page fills.
    provenance: &'static str,
    script: String,
    /// What the content policy lets run: this script and no other.
    script_hash: String,
}

/// Which cells of a stage are shown.
struct StageShown {
    name: String,
    cells: usize,
    /// Values of each axis of its matrix, in the labels' order.
    axes: Vec<(String, String)>,
}

struct DrawnSection<'a> {
    id: &'a str,
    title: &'a str,
    /// Its title in the list that stays in view.
    menu: &'a str,
    /// Anchor and title of each part, for the contents.
    entries: Vec<(String, &'a str)>,
    parts: Vec<DrawnPart<'a>>,
}

enum DrawnPart<'a> {
    /// HTML.
    Table(String),
    Chart {
        chart: &'a Chart,
        svg: String,
    },
}

/// The whole page. `sources` are the labels that the tables' `data-from` counts in.
///
/// # Errors
/// A template fails, which is a mistake of ours.
pub(crate) fn page(
    title: &str,
    results: &Results,
    sections: &[Section],
    boards: Option<&Embedded>,
    sources: &[String],
) -> Result<String, Failure> {
    let script = script::script();
    let view = View {
        title,
        opening: opening::opening(results),
        warnings: opening::warnings(results),
        stages: stages(&results.labels),
        labels: &results.labels,
        sections: sections.iter().map(|section| draw(section, sources)).collect::<Result<_, _>>()?,
        palette: PALETTE,
        chart_style: CHART_STYLE,
        boards_after: boards_after(sections),
        boards,
        page_style: concat!(
            include_str!("page.css"),
            include_str!("provenance.css"),
            include_str!("boards/boards.css")
        ),
        sources: script::json(sources)?,
        provenance: provenance::PLACEHOLDER,
        script_hash: script::hash(&script),
        script,
    };
    view.render().map_err(|error| Failure::internal(format!("cannot draw the page: {error}")))
}

/// The boards follow the test results: nothing else shows as fast what a model believes.
fn boards_after(sections: &[Section]) -> usize {
    sections.iter().position(|section| section.id == "test-results").map_or(0, |place| place + 1)
}

fn draw<'a>(section: &'a Section, sources: &[String]) -> Result<DrawnSection<'a>, Failure> {
    let parts = section.parts.iter().map(|part| match part {
        Part::Table(table) => Ok(DrawnPart::Table(table.html(sources)?)),
        Part::Chart(chart) => Ok(DrawnPart::Chart { chart, svg: chart.inline_svg()? }),
    });
    let entries = section.parts.iter().map(|part| match part {
        Part::Table(table) => (table.id.clone(), table.title.as_str()),
        Part::Chart(chart) => (format!("figure-{}", chart.id), chart.title.as_str()),
    });
    Ok(DrawnSection {
        id: section.id,
        title: section.title,
        menu: section.menu,
        entries: entries.collect(),
        parts: parts.collect::<Result<_, Failure>>()?,
    })
}

fn stages(labels: &[String]) -> Vec<StageShown> {
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
    let shown = |(name, (cells, axes)): (String, (usize, Axes))| StageShown {
        name,
        cells,
        axes: axes.into_iter().map(|(axis, values)| (axis, values.join(", "))).collect(),
    };
    stages.into_iter().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_names_the_cells_by_stage_and_axis() {
        let labels = ["e[size=a,test=x]", "e[size=b,test=x]", "f"].map(str::to_owned);
        let shown = stages(&labels);
        assert_eq!((shown[0].name.as_str(), shown[0].cells), ("e", 2));
        assert_eq!(shown[0].axes, [("size".to_owned(), "a, b".to_owned()), ("test".to_owned(), "x".to_owned())]);
        assert!(shown[1].axes.is_empty());
    }
}
