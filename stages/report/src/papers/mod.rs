//! The papers, a folder each. One more is a folder and an entry of [`PAPERS`].

pub(crate) mod chess_world_model;

use cwm_contract::{Context, Failure, Input};
use cwm_page::Chapter;

use crate::Config;

/// The papers that a page can carry, in the order of its chapters.
pub(crate) const PAPERS: [&dyn Paper; 1] = [&chess_world_model::ChessWorldModel];

/// A paper whose tables and figures can be made of what was run.
pub(crate) trait Paper {
    /// Its title: the heading of its chapter. That of the first paper is the default heading of the page.
    fn title(&self) -> &'static str;

    /// The inputs that it reads, all of them optional.
    fn inputs(&self) -> Vec<Input>;

    /// Its chapter of the page; `None` where none of its inputs was given. Names of its tables and figures stay the same
    /// whichever other papers stand on the page, so a paper that is not the first begins them with a word of its own.
    ///
    /// # Errors
    /// An input cannot be read, or is not what it should be.
    fn chapter(&self, context: &Context, config: &Config) -> Result<Option<Chapter>, Failure>;
}
