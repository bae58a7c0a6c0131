//! The stage: a chapter of each paper, and the page of them.

use cwm_contract::{Context, Failure, Format, Input, Output, ParameterSpec, Parameters, Stage};
use cwm_page::{Chapter, Page};

use crate::Config;
use crate::papers::{PAPERS, inputs, papers_of};

/// Every table and figure of what was run.
pub struct Report;

impl Stage for Report {
    fn kind(&self) -> &'static str {
        "report"
    }

    fn description(&self) -> &'static str {
        "writes papers' tables and figures for what was run, and a page with all of them"
    }

    fn inputs(&self) -> Vec<Input> {
        inputs()
    }

    fn check_inputs(&self, inputs: &[&str]) -> Option<String> {
        PAPERS.iter().find_map(|paper| paper.check_inputs(inputs))
    }

    fn outputs(&self) -> Vec<Output> {
        vec![Output::folder("report", Format::REPORT, "tables, figures and the page")]
    }

    fn parameters(&self) -> Vec<ParameterSpec> {
        Config::specs()
    }

    fn run(&self, context: &Context) -> Result<(), Failure> {
        let config: Config = context.parameters()?;
        let chapters = papers_of(context).into_iter().map(|paper| paper.chapter(context, &config));
        let chapters: Vec<Chapter> = chapters.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        let Some(first) = chapters.first() else {
            return Err(Failure::input("there is nothing to report").hint(
                "give it `bins`, `counts`, `curves` or `boards`; `choices` or `matches` of board against moves; `findings` of inside models; `tallies` of questions and reasoning",
            ));
        };
        context.check_cancelled()?;
        let title = config.title.unwrap_or_else(|| first.title.clone());
        Page::new(&title, chapters).write(context.output("report")?)
    }
}
