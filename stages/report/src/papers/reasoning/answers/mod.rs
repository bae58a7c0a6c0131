//! Answers to look at: of each run and task a few, with the claims of their thinking marked, as many as the page has room for.
//!
//! `answer_view` draws one. Models' responses are text of the page, never its markup.

mod answer_view;
mod marked;

use askama::Template;
use cwm_contract::{Context, Failure};
use cwm_page::{Widget, number};
use cwm_reasoning::CATEGORY;

use crate::papers::board::{Drawings, drawings};
use crate::papers::reasoning::measured::is_lenient;
use crate::papers::shown_answers::{PickedAnswers, pick};
use answer_view::draw;

/// The style of boards, and of what stands around them.
const STYLE: &str = concat!(include_str!("../../board.css"), include_str!("answers.css"));

#[derive(Template)]
#[template(path = "reasoning/answers.html")]
struct View {
    drawings: Drawings,
    runs: Vec<RunAnswers>,
}

/// The answers of a run.
struct RunAnswers {
    name: String,
    all: String,
    /// Each as markup.
    shown: Vec<String>,
}

/// The answers within `bytes` of the page, which runs share equally; nothing without grades of graded items.
///
/// # Errors
/// An input cannot be read, or they do not belong together.
pub(super) fn answers(context: &Context, bytes: u64) -> Result<Option<Widget>, Failure> {
    let picked = pick(context, |input, grade| grade.category == CATEGORY && !is_lenient(&input.label))?;
    if picked.is_empty() {
        return Ok(None);
    }
    let each = bytes / picked.len() as u64;
    let runs = picked.into_iter().map(|picked| of_run(&picked, each)).collect::<Result<_, _>>()?;
    let html = View { drawings: drawings()?, runs }.render();
    let html = html.map_err(|error| Failure::internal(format!("cannot draw the answers: {error}")))?;
    Ok(Some(Widget { html, style: STYLE, script: "" }))
}

fn of_run(picked: &PickedAnswers, bytes: u64) -> Result<RunAnswers, Failure> {
    let mut shown = Vec::new();
    let mut left = bytes;
    for answer in &picked.answers {
        let html = draw(answer)?;
        let Some(rest) = left.checked_sub(html.len() as u64) else { break };
        left = rest;
        shown.push((answer.order, html));
    }
    // In the order of the items, where answers were picked from all tasks in turn.
    shown.sort_by_key(|(order, _)| *order);
    let shown = shown.into_iter().map(|(_, html)| html).collect();
    Ok(RunAnswers { name: picked.run.clone(), all: number::count(picked.count), shown })
}
