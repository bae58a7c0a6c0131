//! The builder `verbalised`: a small alpha-beta search over an engine's values, written as a player's thoughts.
//!
//! Every move in it is legal, and every number is the engine's or the minimax of its numbers. But the moves of a node are drawn:
//! "the best reply" is the best of the two at most that were drawn, not of all. The published search has one setting, so its
//! limits are constants.

mod drawing;
mod phrases;
mod text;
mod tree;

use cwm_game::{DrawRules, GameState};
use shakmaty::{Chess, Move, Position};

use crate::board::{BoardForm, board_text};
use crate::draws::RandomChoices;
use crate::example::{Example, Message};
use crate::texts;
use drawing::Rule;
use tree::{MoveSource, Node};

pub use phrases::Wording;

/// The centipawns of a mate.
pub const MATE: i32 = 10_000;

/// A legal move and its value for the side that makes it; mates are ±[`MATE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoredMove {
    /// The move.
    pub played: Move,
    /// Its value.
    pub centipawns: i32,
}

/// A verbalised search, and how much its values can be relied upon.
#[derive(Clone, Debug, PartialEq)]
pub struct VerbalisedSearch {
    /// The example.
    pub example: Example,
    /// The number of nodes of its tree.
    pub nodes: usize,
    /// The number of nodes whose minimax is more than 100 centipawns from the engine's value of the move: there the
    /// engine contradicts itself.
    pub contradicted: usize,
}

/// Searches a position and writes the search down. `lines` gives moves of a position (of all or of the best ones) with their
/// values; it is called for positions in which the game goes on. None if the game is over.
///
/// # Errors
///
/// The errors of `lines`.
pub fn verbalised<E>(
    position: &Chess,
    form: BoardForm,
    wording: Wording,
    draws: &mut RandomChoices,
    lines: impl FnMut(&Chess) -> Result<Vec<ScoredMove>, E>,
) -> Result<Option<VerbalisedSearch>, E> {
    let state = GameState::from(position.clone());
    if state.ending(&position.legal_moves(), DrawRules::Claimable).is_some() {
        return Ok(None);
    }
    let mut source = Engine { lines, draws };
    let roots = tree::roots(position, &mut source)?;
    let draws = source.draws;
    let Some(best) = tree::best(&roots) else { return Ok(None) };
    let text = text::target(&roots, best, &wording.phrases(), WEAK_ROOT_LINES, draws);
    let user = format!(
        "Here is a chess position:\n\n{}\n\nFind a good move. Think of several moves first. For each, follow a few lines in which your \
         opponent answers with the best moves. Write the value of a board as `[v+12]` and the value of a line with best play of both \
         sides as `[mm-30]`, in centipawns from your side. At the end give your move in answer tags.",
        board_text(position, form)
    );
    let messages = Message::conversation(texts::TASK, user, text);
    let mut example = Example::new("verbalised", position, messages);
    example.meta.insert("move", crate::pieces::uci(best.played));
    let all: Vec<&Node> = roots.iter().flat_map(Node::all).collect();
    let contradicted = all.iter().filter(|node| node.minimax.abs_diff(node.score) > 100).count();
    Ok(Some(VerbalisedSearch { example, nodes: all.len(), contradicted }))
}

/// The probability that a root move far behind the best has its lines all the same.
const WEAK_ROOT_LINES: f64 = 0.2;

/// Values of an engine, and moves drawn by them.
struct Engine<'a, F> {
    lines: F,
    draws: &'a mut RandomChoices,
}

impl<E, F: FnMut(&Chess) -> Result<Vec<ScoredMove>, E>> MoveSource for Engine<'_, F> {
    type Error = E;

    fn lines(&mut self, position: &Chess) -> Result<Vec<ScoredMove>, E> {
        (self.lines)(position)
    }

    fn drawn(&mut self, _: &Chess, lines: &[ScoredMove], rule: &Rule) -> Vec<usize> {
        let scores: Vec<i32> = lines.iter().map(|line| line.centipawns).collect();
        drawing::draw(&scores, rule, self.draws)
    }
}

#[cfg(test)]
mod tests;
