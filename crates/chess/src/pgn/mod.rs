//! PGN text, read as a stream in constant memory.
//!
//! Three steps that never look back: bytes from a file, plain or compressed ([`PgnSource`]; [`Text`] where threads of
//! their own decompress it); bytes into blocks of whole games ([`Blocks`], the only authority on where a game begins and
//! ends); one game's text into headers and moves ([`Tags`], [`read_moves`]). The second is sequential and cheap, the third
//! can be done for many blocks at once, the first for many zstd frames.
//!
//! Lines end with LF, CRLF or a lone CR. Lines that begin with `%` are skipped.
//! Control characters count as white space.

mod blocks;
mod decode;
mod frames;
mod movetext;
mod san;
mod scanner;
mod source;
mod tags;
mod text;

pub use blocks::{Block, Blocks, GameText, MAX_GAME_BYTES, PgnError};
pub use movetext::{MoveError, read_moves, read_moves_from};
pub use san::{SanError, read_san};
pub use scanner::MalformedText;
pub use source::{Meter, PgnReader, PgnReaders, PgnSource};
pub use tags::Tags;
pub use text::Text;

/// Returns true if a byte separates words: space and control characters.
#[inline]
fn is_space(byte: u8) -> bool {
    byte <= b' ' || byte == 0x7f
}

#[cfg(test)]
mod tests;
