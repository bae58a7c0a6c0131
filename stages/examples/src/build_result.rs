//! The results of building: an example, an item, or the reason why nothing was built.

use cwm_questions::Item;
use cwm_reasoning::Example;
use serde::{Deserialize, Serialize};

/// The result of building on a position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum BuildResult {
    /// An example, which has no id yet.
    Example(Box<Example>, TreeCounts),
    /// An item of `guided`, which has no `task_id` yet.
    Item(Box<Item>),
    /// Nothing, for this reason.
    Nothing(Reason),
}

/// The nodes of a verbalised search, and those whose minimax contradicts their value; none of other builders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeCounts {
    /// Nodes.
    pub nodes: usize,
    /// Nodes with a contradiction.
    pub contradicted: usize,
}

/// The reason why nothing was built of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The line is too short, or a mate is seen and not reached.
    NoLine,
    /// There are fewer questions than were drawn.
    FewQuestions,
    /// The rules allow a claim of a draw.
    Draw,
    /// The engine left out moves.
    Incomplete,
    /// No line qualifies for an explanation.
    NotExplained,
}

impl Reason {
    /// All of them.
    pub const ALL: [Reason; 5] =
        [Reason::NoLine, Reason::FewQuestions, Reason::Draw, Reason::Incomplete, Reason::NotExplained];

    /// Its name in counts.
    pub fn name(self) -> &'static str {
        match self {
            Reason::NoLine => "no_line",
            Reason::FewQuestions => "few_questions",
            Reason::Draw => "draw",
            Reason::Incomplete => "incomplete",
            Reason::NotExplained => "not_explained",
        }
    }
}
