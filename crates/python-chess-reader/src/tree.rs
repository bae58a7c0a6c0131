//! The tree of moves that python-chess builds, and where in it the next one goes.

use crate::position::Move;

/// The node of the initial position.
const ROOT: u32 = 0;

struct Node {
    parent: u32,
    /// The first move that was added behind this one; the main line follows these.
    next: Option<u32>,
    played: Move,
}

/// Moves as a tree, and a stack of the variations that are open. The stack may run empty where a game's parentheses do
/// not match; python-chess then fails at the next thing that needs it.
pub struct Tree {
    nodes: Vec<Node>,
    open: Vec<u32>,
}

/// python-chess stops here with an uncaught exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exception;

impl Default for Tree {
    /// A tree without moves.
    fn default() -> Self {
        let mut tree = Tree { nodes: Vec::new(), open: Vec::new() };
        tree.clear();
        tree
    }
}

impl Tree {
    /// Takes all moves out.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.nodes.push(Node { parent: ROOT, next: None, played: Move::NULL });
        self.open.clear();
        self.open.push(ROOT);
    }

    /// Returns true if it has a move.
    pub fn has_moves(&self) -> bool {
        self.nodes.len() > 1
    }

    fn top(&self) -> Result<u32, Exception> {
        self.open.last().copied().ok_or(Exception)
    }

    /// Adds a move to the open variation.
    pub fn add(&mut self, played: Move) -> Result<(), Exception> {
        let parent = self.top()?;
        let added = self.nodes.len() as u32;
        self.nodes.push(Node { parent, next: None, played });
        self.nodes[parent as usize].next.get_or_insert(added);
        if let Some(top) = self.open.last_mut() {
            *top = added;
        }
        Ok(())
    }

    /// Notes something about the last move: a comment, a glyph.
    pub fn annotate(&self) -> Result<(), Exception> {
        self.top().map(|_| ())
    }

    /// Opens a variation that takes the place of the last move.
    pub fn begin_variation(&mut self) -> Result<(), Exception> {
        let top = self.top()?;
        if top == ROOT {
            return Err(Exception);
        }
        self.open.push(self.nodes[top as usize].parent);
        Ok(())
    }

    /// Closes the open variation, or the game itself.
    pub fn end_variation(&mut self) -> Result<(), Exception> {
        self.open.pop().map(|_| ()).ok_or(Exception)
    }

    /// The moves of the main line.
    pub fn main_line(&self) -> impl Iterator<Item = Move> {
        let mut at = ROOT;
        std::iter::from_fn(move || {
            at = self.nodes[at as usize].next?;
            Some(self.nodes[at as usize].played)
        })
    }
}
