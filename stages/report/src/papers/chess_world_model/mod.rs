//! Walker and Lyons, Chess-World-Model (arXiv 2605.30100).
//!
//! `read` turns input files into plain values, `results` gathers the runs of one model, `tables` and `figures` (a file for
//! each of the paper's) define what is shown, `facts` are the paper's numbers, and `contents` puts all of it in order.

pub(crate) mod boards;
pub(crate) mod contents;
pub(crate) mod errors;
pub(crate) mod facts;
pub(crate) mod figures;
pub(crate) mod format;
pub(crate) mod model;
pub(crate) mod read;
pub(crate) mod results;
pub(crate) mod settings;
mod summary;
pub(crate) mod tables;
pub(crate) mod test_set;
pub(crate) mod training;

use cwm_contract::{Context, Failure, Format, Input};

use crate::Config;
use crate::papers::Paper;
use contents::{Measurements, sections};
use cwm_page::{Chapter, Link};
use facts::PaperFacts;
use results::Results;

/// The paper.
pub(crate) struct ChessWorldModel;

impl Paper for ChessWorldModel {
    fn title(&self) -> &'static str {
        "Chess-World-Model"
    }

    fn inputs(&self) -> Vec<Input> {
        vec![
            Input::optional("bins", Format::BINS, "metrics overall and per prefix bin"),
            Input::optional_many("counts", Format::COUNTS, "numbers of games kept, dropped, split and tokenized"),
            Input::optional_many("curves", Format::CURVES, "curves that trainings recorded"),
            Input::optional_many("candidates", Format::CANDIDATES, "trainings that a sweep chose from"),
            Input::optional_many("differences", Format::DIFFERENCES, "differences between models, paired by game"),
            Input::optional_many("boards", Format::BOARDS, "predictions of models for a few games"),
        ]
    }

    fn chapter(&self, context: &Context, config: &Config) -> Result<Option<Chapter>, Failure> {
        let facts = PaperFacts::load().map_err(Failure::internal)?;
        let (results, wrong) = match context.optional_input("bins") {
            Some(folder) => (Results::gather(&read::bins::read(folder)?)?, read::errors::read(folder)?),
            None => Default::default(),
        };
        let measured = Measurements {
            errors: errors::gather(&wrong, &results),
            counts: read::counts::read(context.group("counts"))?,
            curves: read::curves::read(context.group("curves"))?,
            candidates: read::json_lines::read("candidates", context.group("candidates"))?,
            differences: read::json_lines::read("differences", context.group("differences"))?,
        };
        let boards = boards::read(context.group("boards"))?;
        if results.models.is_empty() && measured.is_empty() && boards.is_empty() {
            return Ok(None);
        }
        context.check_cancelled()?;
        let boards = boards::embed(&boards, config.board_bytes)?;
        Ok(Some(Chapter {
            title: self.title().to_owned(),
            summary: summary::summary_sentence(&results),
            warnings: summary::warnings(&results),
            highlight: boards.is_some().then_some(Link {
                anchor: boards::ANCHOR,
                words: "Step through games, board by board",
                rest: ": the predictions of a model beside the true positions.",
            }),
            comparison_note: summary::comparison_note(&results).to_owned(),
            sections: sections(&results, &measured, &facts, boards),
            labels: results.labels,
        }))
    }
}
