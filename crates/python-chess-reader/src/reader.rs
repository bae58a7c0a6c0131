//! Games from lines, as python-chess 1.11.2's `read_game` takes them.

use std::io::{self, BufRead};

use memchr::memchr;

use crate::lines::Lines;
use crate::position::{Position, San, Variant};
use crate::tags::Tags;
use crate::text::{MAX_DIGITS, is_blank};
use crate::tree::{Exception, Tree};
use crate::words::{self, Word};

/// Moves that a game may have, variations included: more are no game, and must not fill the memory.
pub const MAX_MOVES: usize = 1 << 18;

/// An error that ends the reading of a game, with its byte offset in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// A byte of it is not UTF-8.
    NotUtf8(u64),
    /// It has too many moves, or a line that is too long, comments aside.
    TooLong(u64),
    /// python-chess stops with an uncaught exception.
    Exception(u64),
}

/// Reads one game after the other; the one read last is in its fields.
pub struct Reader<R> {
    lines: Lines<R>,
    /// Its tags.
    pub tags: Tags,
    /// Its moves.
    pub tree: Tree,
    /// Offset in the text.
    pub offset: u64,
    /// The first thing that is wrong with its text.
    pub error: Option<ReadError>,
    /// Boards of the game, each with the place of the one before the last move.
    boards: Vec<(Position, Option<usize>)>,
    /// Indices of the boards of the open variations. They differ from the tree's after an illegal move.
    open: Vec<usize>,
    /// Variations that are open around one that is not read because of an illegal move, itself included.
    skipped: usize,
    /// True if the rest of the game's moves is ignored.
    ignores_moves: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads `input`; lines longer than `longest_line` bytes are an error.
    pub fn new(input: R, longest_line: usize) -> Self {
        Reader {
            lines: Lines::new(input, longest_line),
            tags: Tags::default(),
            tree: Tree::default(),
            offset: 0,
            error: None,
            boards: Vec::new(),
            open: Vec::new(),
            skipped: 0,
            ignores_moves: false,
        }
    }

    /// Bytes of text read so far.
    pub fn bytes_read(&self) -> u64 {
        self.lines.end()
    }

    /// Reads the next game; false at the end of the text, where only what is no game may have caused error.
    ///
    /// # Errors
    /// The stream fails.
    pub fn read_game(&mut self) -> io::Result<bool> {
        self.tags = Tags::default();
        self.tree.clear();
        self.boards.clear();
        self.open.clear();
        (self.error, self.skipped, self.ignores_moves) = (None, 0, false);
        self.next_line()?;
        self.offset = self.lines.start();
        while let Some(rest) = self.line().strip_prefix("\u{feff}".as_bytes()) {
            let mark = self.line().len() - rest.len();
            self.lines.skip(mark);
        }
        while is_blank(self.line()) || self.is_remark() {
            self.next_line()?;
            self.offset = self.lines.start();
        }
        if self.line().is_empty() {
            return Ok(false);
        }
        self.read_tags()?;
        self.set_up();
        self.read_moves()?;
        Ok(true)
    }

    /// Returns true if the game has a tag or a move, as those of a PGN have.
    pub fn looks_like_pgn(&self) -> bool {
        self.tree.has_moves() || self.tags.any
    }

    fn line(&self) -> &[u8] {
        self.lines.line()
    }

    /// Goes to the next line, past what may be left of this one.
    fn next_line(&mut self) -> io::Result<()> {
        while self.lines.is_cut() {
            self.next_piece()?;
        }
        self.next_piece()
    }

    fn next_piece(&mut self) -> io::Result<()> {
        if let Some(bad) = self.lines.advance()? {
            self.record_error(ReadError::NotUtf8(bad));
        }
        Ok(())
    }

    fn record_error(&mut self, error: ReadError) {
        self.error.get_or_insert(error);
    }

    fn is_remark(&self) -> bool {
        matches!(self.line().first(), Some(b'%' | b';'))
    }

    /// Reads tag lines, one blank line before each allowed.
    fn read_tags(&mut self) -> io::Result<()> {
        let mut blank_before = false;
        while !self.line().is_empty() {
            if self.is_remark() {
            } else if !blank_before && is_blank(self.line()) {
                blank_before = true;
            } else if self.line().starts_with(b"[") {
                blank_before = false;
                if self.lines.is_cut() {
                    self.record_error(ReadError::TooLong(self.lines.start()));
                } else if let Ok(line) = std::str::from_utf8(self.lines.line()) {
                    self.tags.read_line(line);
                }
            } else {
                break;
            }
            self.next_line()?;
        }
        Ok(())
    }

    /// Puts the board up; where that cannot be done, no move of the game is read.
    fn set_up(&mut self) {
        match self.initial_position(self.variant().unwrap_or((Variant::Standard, false))) {
            Some(position) => {
                self.boards.push((position, None));
                self.open.push(0);
            }
            None => self.ignores_moves = true,
        }
    }

    /// The game's variant, and whether it is Chess960; `None` where it is unknown.
    pub fn variant(&self) -> Option<(Variant, bool)> {
        self.tags.variant.as_deref().map_or(Some((Variant::Standard, false)), Variant::named)
    }

    /// The position that the game begins from; `None` where its FEN is refused.
    pub fn initial_position(&self, (variant, chess960): (Variant, bool)) -> Option<Position> {
        Position::new(variant, self.tags.fen.as_deref(), chess960)
    }

    /// Reads lines up to a blank one.
    fn read_moves(&mut self) -> io::Result<()> {
        while !self.line().is_empty() {
            if !self.is_remark() {
                if is_blank(self.line()) {
                    return Ok(());
                }
                // What follows a comment is not looked at as a line, nor is the next piece of one.
                while self.read_words()? {}
                while self.lines.is_cut() {
                    self.record_error(ReadError::TooLong(self.lines.start()));
                    self.next_piece()?;
                    while self.read_words()? {}
                }
            }
            self.next_line()?;
        }
        Ok(())
    }

    /// Reads the words of the line; true if a comment broke in, behind which the line goes on.
    fn read_words(&mut self) -> io::Result<bool> {
        let mut at = 0;
        while let Some((word, start, end)) = words::next(self.line(), at) {
            let place = self.lines.start() + start as u64;
            match word {
                Word::LineComment => break,
                Word::Comment => {
                    self.skip_comment(end)?;
                    if !self.ignores_moves && self.skipped == 0 && self.tree.annotate().is_err() {
                        self.stop_reading_moves(ReadError::Exception(place));
                    }
                    return Ok(true);
                }
                _ if self.ignores_moves => {}
                _ => {
                    if self.take(word).is_err() {
                        self.stop_reading_moves(ReadError::Exception(place));
                    } else if self.boards.len() > MAX_MOVES {
                        self.stop_reading_moves(ReadError::TooLong(place));
                    }
                }
            }
            at = end;
        }
        Ok(false)
    }

    fn stop_reading_moves(&mut self, error: ReadError) {
        self.record_error(error);
        self.ignores_moves = true;
    }

    /// Goes behind the end of a comment that begins before byte `at` of the line, or to the end of the text.
    fn skip_comment(&mut self, at: usize) -> io::Result<()> {
        let mut at = at;
        loop {
            if let Some(length) = memchr(b'}', &self.line()[at..]) {
                self.lines.skip(at + length + 1);
                return Ok(());
            }
            self.next_piece()?;
            if self.line().is_empty() {
                return Ok(());
            }
            at = 0;
        }
    }

    fn take(&mut self, word: Word) -> Result<(), Exception> {
        match word {
            Word::Open if self.skipped > 0 => self.skipped += 1,
            Word::Open => {
                if let Some(before) = self.open.last().and_then(|&board| self.boards[board].1) {
                    self.tree.begin_variation()?;
                    self.open.push(before);
                }
            }
            Word::Close if self.skipped > 1 => self.skipped -= 1,
            Word::Close if self.skipped == 1 => {
                // The boards stay where they are, which is what spoils the game.
                self.skipped = 0;
                self.tree.end_variation()?;
            }
            Word::Close => {
                if self.open.len() > 1 {
                    self.tree.end_variation()?;
                    self.open.pop();
                }
            }
            _ if self.skipped > 0 => {}
            Word::Glyph(digits) if digits > MAX_DIGITS => return Err(Exception),
            Word::Glyph(_) => self.tree.annotate()?,
            Word::Result(result) if self.open.len() == 1 => {
                if self.tags.result == "*" {
                    result.clone_into(&mut self.tags.result);
                }
            }
            Word::Result(_) => self.play(San::Result)?,
            Word::San(san) => self.play(san)?,
            Word::Comment | Word::LineComment => {}
        }
        Ok(())
    }

    /// Plays a move on the open variation's board; an illegal one shuts the variation.
    fn play(&mut self, san: San) -> Result<(), Exception> {
        let Some(top) = self.open.last_mut() else { return Err(Exception) };
        let board = &self.boards[*top].0;
        let Some(played) = board.read_san(san) else {
            self.skipped = 1;
            return Ok(());
        };
        self.tree.add(played)?;
        let mut after = board.clone();
        after.play(played).map_err(|_| Exception)?;
        let before = std::mem::replace(top, self.boards.len());
        self.boards.push((after, Some(before)));
        Ok(())
    }
}
