//! The stage: read, gather, write.

use std::path::Path;

use cwm_contract::{Context, Failure, Format, Input, Output, ParameterSpec, Parameters, Stage};
use serde::Serialize;

use crate::contents::{Given, Part, Section, sections};
use crate::page::page;
use crate::paper::Paper;
use crate::plain_text::visible;
use crate::read::{bins, counts, curves, errors, json_lines};
use crate::results::Results;
use crate::table::sources;
use crate::{Config, boards};

/// Every table and figure of what was run.
pub struct Report;

impl Stage for Report {
    fn kind(&self) -> &'static str {
        "report"
    }

    fn description(&self) -> &'static str {
        "writes the paper's tables and figures for what was run, and a page with all of them"
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::optional("bins", Format::BINS, "metrics overall and per prefix bin"),
            Input::optional_many("counts", Format::COUNTS, "what was kept, dropped, split and tokenized"),
            Input::optional_many("curves", Format::CURVES, "what trainings recorded"),
            Input::optional_many("candidates", Format::CANDIDATES, "which trainings a sweep chose from"),
            Input::optional_many("differences", Format::DIFFERENCES, "how models differ, paired by game"),
            Input::optional_many("boards", Format::BOARDS, "what models believed of a few games"),
        ]
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::folder("report", Format::REPORT, "tables, figures and the page")]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        let config: Config = context.parameters()?;
        let paper = Paper::load().map_err(Failure::internal)?;
        let (results, wrong) = match context.optional_input("bins") {
            Some(folder) => (Results::gather(bins::read(folder)?)?, errors::read(folder)?),
            None => Default::default(),
        };
        let given = Given {
            errors: crate::errors::gather(&wrong, &results),
            counts: counts::read(context.group("counts"))?,
            curves: curves::read(context.group("curves"))?,
            candidates: json_lines::read("candidates", context.group("candidates"))?,
            differences: json_lines::read("differences", context.group("differences"))?,
        };
        let boards = boards::read(context.group("boards"))?;
        if results.models.is_empty() && given.is_empty() && boards.is_empty() {
            return Err(Failure::input("a report of nothing").hint("give it `bins`, `counts`, `curves` or `boards`"));
        }
        context.check_cancelled()?;
        let sections = sections(&results, &given, &paper);
        let boards = boards::embed(&boards, config.board_bytes)?;
        let parts = sections.iter().flat_map(|section| &section.parts);
        let tables = parts.filter_map(|part| if let Part::Table(table) = part { Some(table) } else { None });
        let page = page(&visible(&config.title), &results, &sections, boards.as_ref(), &sources(tables))?;
        write_report(context.output("report")?, &page, &sections)
    }
}

/// `tables/index.json`: what there is, for programs.
#[derive(Serialize)]
struct Index<'a> {
    format: u32,
    tables: Vec<IndexEntry<'a>>,
    figures: Vec<IndexEntry<'a>>,
}

#[derive(Serialize)]
struct IndexEntry<'a> {
    id: &'a str,
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    paper: Option<&'a str>,
    files: Vec<String>,
}

fn write_report(folder: &Path, page: &str, sections: &[Section]) -> Result<(), Failure> {
    for made in [folder.join("tables"), folder.join("figures")] {
        std::fs::create_dir_all(&made).map_err(|error| Failure::io("make", &made, error))?;
    }
    let write = |name: &str, text: &dyn AsRef<[u8]>| {
        let path = folder.join(name);
        std::fs::write(&path, text.as_ref()).map_err(|error| Failure::io("write", &path, error))
    };
    write("index.html", &page)?;
    let mut index = Index { format: 1, tables: Vec::new(), figures: Vec::new() };
    for part in sections.iter().flat_map(|section| &section.parts) {
        match part {
            Part::Table(table) => {
                let files = table.write_files(&folder.join("tables"))?;
                let files = files.iter().map(|name| format!("tables/{name}")).collect();
                index.tables.push(IndexEntry { id: &table.id, title: &table.title, paper: table.paper, files });
            }
            Part::Chart(chart) => {
                let files: Vec<_> = ["svg", "pdf", "csv"].map(|end| format!("figures/{}.{end}", chart.id)).into();
                write(&files[0], &chart.standalone_svg()?)?;
                write(&files[1], &chart.pdf()?)?;
                write(&files[2], &chart.csv())?;
                index.figures.push(IndexEntry { id: &chart.id, title: &chart.title, paper: chart.paper, files });
            }
        }
    }
    let mut json = serde_json::to_string_pretty(&index)
        .map_err(|error| Failure::internal(format!("cannot write tables/index.json: {error}")))?;
    json.push('\n');
    write("tables/index.json", &json)
}
