//! The papers, a folder each. One more is a folder and an entry of [`PAPERS`].

mod board;
pub(crate) mod board_vs_moves;
pub(crate) mod chess_world_model;
mod drawing;
mod fact_fields;
pub(crate) mod inside_models;
pub(crate) mod json_lines;
pub(crate) mod questions;
pub(crate) mod reasoning;
mod shown_answers;
mod training_points;

use cwm_contract::{Context, Failure, Input};
use cwm_page::Chapter;

use crate::Config;

/// The papers that a page can carry, in the order of its chapters.
pub(crate) const PAPERS: [&dyn Paper; 5] = [
    &chess_world_model::ChessWorldModel,
    &board_vs_moves::BoardVsMoves,
    &inside_models::InsideModels,
    &questions::Questions,
    &reasoning::Reasoning,
];

/// A paper whose tables and figures can be made of what was run.
pub(crate) trait Paper {
    /// Its title: the heading of its chapter. That of the first chapter is the default heading of the page.
    fn title(&self) -> &'static str;

    /// The inputs that it reads, all of them optional. Papers may share some.
    fn inputs(&self) -> Vec<Input>;

    /// Inputs that bring its chapter to the page although another paper reads them as well: its chapter is empty where they hold
    /// nothing of it.
    fn decisive_inputs(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns a phrase with the error of these inputs, if they do not suffice together.
    fn check_inputs(&self, _given: &[&str]) -> Option<String> {
        None
    }

    /// Its chapter of the page; `None` where none of its inputs was given. Names of its tables and figures stay the same
    /// whichever other papers stand on the page, so a paper that is not the first begins them with a word of its own.
    ///
    /// # Errors
    /// An input cannot be read, or is not what it should be.
    fn chapter(&self, context: &Context, config: &Config) -> Result<Option<Chapter>, Failure>;
}

/// The inputs of all papers, each once.
pub(crate) fn inputs() -> Vec<Input> {
    let mut inputs: Vec<Input> = Vec::new();
    for input in PAPERS.iter().flat_map(|paper| paper.inputs()) {
        if inputs.iter().all(|known| known.name != input.name) {
            inputs.push(input);
        }
    }
    inputs
}

/// The papers that the page is about: those with an input that no other paper reads, or that decides; the first paper if none has.
/// So an input that several read, such as `curves`, brings no chapter to a page of another paper.
pub(crate) fn papers_of(context: &Context) -> Vec<&'static dyn Paper> {
    let reads = |paper: &dyn Paper, name: &str| paper.inputs().iter().any(|input| input.name == name);
    let readers = |name: &str| PAPERS.iter().filter(|paper| reads(**paper, name)).count();
    let is_given = |input: &Input| !context.group(input.name).is_empty();
    let is_about = |paper: &&dyn Paper| {
        let decides = |input: &Input| readers(input.name) == 1 || paper.decisive_inputs().contains(&input.name);
        paper.inputs().iter().any(|input| is_given(input) && decides(input))
    };
    let papers: Vec<_> = PAPERS.into_iter().filter(is_about).collect();
    if papers.is_empty() { PAPERS[..1].to_vec() } else { papers }
}
