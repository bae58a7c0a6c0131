//! A port of python-chess 1.11.2's reader of PGN: the games that it finds in any text, its mistakes included.
//!
//! The authors' program reads with it, so `parse` with `rules: authors` needs the same games (docs/fidelity.md). It depends
//! on text and positions of all variants. It must not depend on which games are kept, nor how they are stored.

mod lines;
mod position;
mod reader;
mod tags;
mod text;
mod tree;
mod words;

pub use position::{Move, Position, UnplayableMove, Variant};
pub use reader::{ReadError, Reader};
pub use tags::Tags;
pub use text::strip;
pub use tree::{Exception, Tree};
