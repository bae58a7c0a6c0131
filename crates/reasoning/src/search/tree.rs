//! The tree of a search: the drawn moves, two plies below each root move, and their minimax.

use cwm_game::{DrawRules, Ending, GameState};
use shakmaty::{Chess, Color, Move, Position};

use super::drawing::{OPPONENT, OWN, ROOT, Rule};
use super::{MATE, ScoredMove};

/// The plies below a root move. With at most two moves drawn in each position a root move has at most seven nodes.
const PLIES_BELOW: u8 = 2;

/// The source of the values of moves, and of the moves that are looked at.
pub(super) trait MoveSource {
    type Error;

    /// Moves of a position with their values for its side to move.
    fn lines(&mut self, position: &Chess) -> Result<Vec<ScoredMove>, Self::Error>;

    /// Indices of `lines` that are looked at; `lines` have the root player's values, descending.
    fn drawn(&mut self, position: &Chess, lines: &[ScoredMove], rule: &Rule) -> Vec<usize>;
}

/// A move that was looked at. Values are centipawns of the root player.
pub(super) struct Node {
    /// The position before the move.
    pub(super) before: Chess,
    pub(super) played: Move,
    /// 0 of a root move; even of the root player's moves.
    pub(super) depth: u8,
    /// The engine's value of the move.
    pub(super) score: i32,
    pub(super) minimax: i32,
    pub(super) children: Vec<Node>,
}

impl Node {
    /// Returns true if it is a move of the root player.
    pub(super) fn is_own(&self) -> bool {
        self.depth.is_multiple_of(2)
    }

    /// The node and all below it.
    pub(super) fn all(&self) -> Vec<&Node> {
        std::iter::once(self).chain(self.children.iter().flat_map(Node::all)).collect()
    }
}

/// The root move of the greatest minimax, the first of equals.
pub(super) fn best(roots: &[Node]) -> Option<&Node> {
    roots.iter().rev().max_by_key(|node| node.minimax)
}

/// The drawn moves of the root position, each with its tree.
pub(super) fn roots<B: MoveSource>(position: &Chess, source: &mut B) -> Result<Vec<Node>, B::Error> {
    let mut search = Search { source, root_player: position.turn() };
    let mut roots = Vec::new();
    for line in search.draw_moves(position, &ROOT)? {
        // Each root move has a window of its own, so cuts are rare.
        roots.push(search.node(position, line, 0, (-i32::MAX, i32::MAX))?);
    }
    Ok(roots)
}

struct Search<'a, B> {
    source: &'a mut B,
    root_player: Color,
}

impl<B: MoveSource> Search<'_, B> {
    /// The drawn moves of a position with the root player's values.
    fn draw_moves(&mut self, position: &Chess, rule: &Rule) -> Result<Vec<ScoredMove>, B::Error> {
        let sign = if position.turn() == self.root_player { 1 } else { -1 };
        let mut lines = self.source.lines(position)?;
        for line in &mut lines {
            line.centipawns *= sign;
        }
        lines.sort_by_key(|line| -line.centipawns);
        Ok(self.source.drawn(position, &lines, rule).into_iter().map(|at| lines[at]).collect())
    }

    fn node(
        &mut self,
        before: &Chess,
        line: ScoredMove,
        depth: u8,
        (mut alpha, mut beta): (i32, i32),
    ) -> Result<Node, B::Error> {
        let mut after = before.clone();
        after.play_unchecked(line.played);
        let ending_value = self.ending_value(&after);
        let score = ending_value.unwrap_or(line.centipawns);
        let mut node =
            Node { before: before.clone(), played: line.played, depth, score, minimax: score, children: Vec::new() };
        if depth == PLIES_BELOW || ending_value.is_some() {
            return Ok(node);
        }
        let own = after.turn() == self.root_player;
        for line in self.draw_moves(&after, if own { &OWN } else { &OPPONENT })? {
            let child = self.node(&after, line, depth + 1, (alpha, beta))?;
            let is_first = node.children.is_empty();
            node.minimax = match (is_first, own) {
                (true, _) => child.minimax,
                (false, true) => node.minimax.max(child.minimax),
                (false, false) => node.minimax.min(child.minimax),
            };
            node.children.push(child);
            if own {
                alpha = alpha.max(node.minimax);
            } else {
                beta = beta.min(node.minimax);
            }
            if alpha >= beta {
                break;
            }
        }
        Ok(node)
    }

    /// The value of a position in which the game is over.
    fn ending_value(&self, position: &Chess) -> Option<i32> {
        let state = GameState::from(position.clone());
        let ending = state.ending(&position.legal_moves(), DrawRules::Claimable)?;
        let mated = if position.turn() == self.root_player { -MATE } else { MATE };
        Some(if ending == Ending::Checkmate { mated } else { 0 })
    }
}
