//! PGN text cut into blocks of whole games.

use std::io::{self, BufRead};

use memchr::memchr;
use thiserror::Error;

use super::scanner::{MalformedText, Scanner, Span};

/// Bytes that a game's text may have at most: what is longer is not a game, and must not fill the memory.
pub const MAX_GAME_BYTES: usize = 16 << 20;

/// Bytes of text in a block, about.
const BLOCK: usize = 1 << 20;

/// The text could not be read to its end.
#[derive(Debug, Error)]
#[error("{source}; that is in game {game}, after byte {offset} of the text")]
pub struct PgnError {
    /// The game in which it ends, counted from 1.
    pub game: u64,
    /// Bytes of (decompressed) text read before.
    pub offset: u64,
    /// The cause.
    pub source: io::Error,
}

/// Some whole games.
#[derive(Debug, Default)]
pub struct Block {
    text: Vec<u8>,
    games: Vec<Span>,
    /// Offset of the text in the file's text.
    offset: u64,
    /// Games before the first of this block.
    games_before: u64,
}

/// The text of one game.
#[derive(Clone, Copy, Debug)]
pub struct GameText<'a> {
    /// Its number in the file, from 1.
    pub number: u64,
    /// Offset of the game in the file's (decompressed) text.
    pub offset: u64,
    /// Its tags and moves. Lines end with LF or CRLF: a lone CR of the file is an LF here.
    pub text: &'a [u8],
    /// Set where its end was not found; its text is then only what came before.
    pub malformed: Option<MalformedText>,
}

impl Block {
    /// Bytes of memory for text.
    #[cfg(test)]
    pub(super) fn text_capacity(&self) -> usize {
        self.text.capacity()
    }

    /// The games in order.
    pub fn games(&self) -> impl Iterator<Item = GameText<'_>> {
        self.games.iter().zip(1..).map(|(span, ordinal)| GameText {
            number: self.games_before + ordinal,
            offset: self.offset + span.start as u64,
            text: &self.text[span.start..span.end],
            malformed: span.malformed,
        })
    }
}

/// Reads blocks from a stream. Where they end depends on the text alone.
pub struct Blocks<R> {
    input: R,
    scanner: Scanner,
    block_bytes: usize,
    longest_game: usize,
    /// The beginning of a game that did not end in the last block.
    rest: Vec<u8>,
    /// Bytes at the end of the text, none or one, of which is not known yet whether they end a line.
    undecided: usize,
    /// True if anything was read.
    begun: bool,
    /// Offset of `rest` in the text.
    offset: u64,
    games: u64,
    end: Option<io::Result<()>>,
}

impl<R: BufRead> Blocks<R> {
    /// Reads from `input`.
    pub fn new(input: R) -> Self {
        Self::with_sizes(input, BLOCK, MAX_GAME_BYTES)
    }

    /// Reads from `input` blocks of about `block_bytes`, and games of at most `longest_game` bytes.
    pub fn with_sizes(input: R, block_bytes: usize, longest_game: usize) -> Self {
        Blocks {
            input,
            scanner: Scanner::new(),
            block_bytes,
            longest_game,
            rest: Vec::new(),
            undecided: 0,
            begun: false,
            offset: 0,
            games: 0,
            end: None,
        }
    }

    /// Replaces what is in `block` by the next games; false after the last one.
    ///
    /// # Errors
    /// The stream fails; all whole games before that place have been handed out.
    pub fn next(&mut self, block: &mut Block) -> Result<bool, PgnError> {
        block.text.clear();
        block.games.clear();
        block.text.append(&mut self.rest);
        block.offset = self.offset;
        block.games_before = self.games;
        while self.end.is_none() {
            self.read_more(&mut block.text);
            let text = &block.text[..block.text.len() - self.undecided];
            self.scanner.scan(text, matches!(self.end, Some(Ok(()))), &mut block.games);
            while self.scanner.pending(text.len()) > self.longest_game && self.end.is_none() {
                self.scanner.abandon_pending(&mut block.games);
                self.scanner.scan(text, false, &mut block.games);
            }
            if !block.games.is_empty() && block.text.len() >= self.block_bytes {
                break;
            }
            if block.games.is_empty() {
                // Nothing but what lies between games: let it go.
                let complete_until = self.scanner.complete_until();
                block.text.drain(..complete_until);
                self.scanner.discard(complete_until);
                block.offset += complete_until as u64;
            }
        }
        // How much of a long game was read at once depends on what stands before it; whether it is too long must not.
        for game in &mut block.games {
            if game.malformed.is_none() && game.end - game.start > self.longest_game {
                game.malformed = Some(MalformedText::TooLong);
            }
        }
        self.games += block.games.len() as u64;
        let complete_until = if self.end.is_some() { block.text.len() } else { self.scanner.complete_until() };
        if !block.games.is_empty() {
            self.rest.extend_from_slice(&block.text[complete_until..]);
            self.offset = block.offset + complete_until as u64;
            if self.end.is_none() {
                self.scanner.discard(complete_until);
            }
            return Ok(true);
        }
        self.offset = block.offset + block.text.len() as u64;
        match self.end.replace(Ok(())) {
            Some(Err(source)) => Err(PgnError { game: self.games + 1, offset: self.offset, source }),
            _ => Ok(false),
        }
    }

    /// Appends a block of text, or what there is left.
    fn read_more(&mut self, text: &mut Vec<u8>) {
        let decided = text.len() - self.undecided;
        let enough = text.len() + if self.begun { self.block_bytes } else { self.block_bytes.max(4) };
        while text.len() < enough && self.end.is_none() {
            match self.input.fill_buf() {
                Ok([]) => self.end = Some(Ok(())),
                Ok(available) => {
                    let length = available.len().min(enough - text.len());
                    text.extend_from_slice(&available[..length]);
                    self.input.consume(length);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => self.end = Some(Err(error)),
            }
        }
        if !self.begun && is_utf16(text) {
            let message = "it is UTF-16 text; PGN is read in UTF-8";
            self.end = Some(Err(io::Error::new(io::ErrorKind::Unsupported, message)));
            text.clear();
        }
        self.begun = true;
        self.undecided = text.len() - settle_line_ends(text, decided, self.end.is_some());
    }
}

/// Returns true if a file's text begins with the byte order mark of UTF-16, or with two letters of it.
fn is_utf16(text: &[u8]) -> bool {
    let letters = |a: u8, b: u8| a.is_ascii_graphic() && b.is_ascii_graphic();
    match *text {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        [a, 0, b, 0, ..] | [0, a, 0, b, ..] => letters(a, b),
        _ => false,
    }
}

/// Turns the lone CRs of `text[from..]` into LFs. Returns how long the text is without a CR at its end, whose LF may be
/// yet to come unless this is the `last` of it.
fn settle_line_ends(text: &mut [u8], from: usize, last: bool) -> usize {
    let mut at = from;
    while let Some(found) = memchr(b'\r', &text[at..]) {
        at += found;
        match text.get(at + 1) {
            Some(b'\n') => {}
            None if !last => return at,
            _ => text[at] = b'\n',
        }
        at += 1;
    }
    text.len()
}
