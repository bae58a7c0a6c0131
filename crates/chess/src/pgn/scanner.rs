//! Finds the beginnings and ends of games in PGN text that arrives piece by piece.
//!
//! A game is its tag lines and the movetext after them. It ends at a blank line after the movetext has begun, or at a
//! line that begins with `[`; inside a brace comment neither ends it. Blank lines between tags and movetext mean
//! nothing; a tag line after two or more blank lines begins a new game, after one it goes on with the same. A byte
//! order mark at the beginning of a line begins a new file, and so a new game.

use memchr::{memchr, memchr3};

use super::is_space;

/// One game in a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its first byte.
    pub start: usize,
    /// The byte after its last one.
    pub end: usize,
    /// The reason if its end could not be found.
    pub malformed: Option<MalformedText>,
}

/// A reason for which a game's end could not be found. The text after it is skipped up to the next tag line after a
/// blank line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MalformedText {
    /// A `{` without its `}`.
    UnterminatedComment,
    /// Longer than [`MAX_GAME_BYTES`](super::MAX_GAME_BYTES).
    TooLong,
}

/// Walks over text once, whatever pieces it comes in.
#[derive(Debug)]
pub struct Scanner {
    state: State,
    /// The next byte to look at.
    at: usize,
    /// Offset of the game under way, if there is one.
    game: Option<usize>,
    /// Offset of the comment under way.
    comment: usize,
    /// No `}` stands between the comment that was searched last and here.
    unclosed_to: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    /// Between games.
    Between,
    /// Among the tags of a game, after so many blank lines.
    Tags { blank_lines: u32 },
    /// In the movetext.
    Moves,
    /// After a malformed game, in search of the next.
    AfterBrokenGame { blank_line: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    LineStart(Section),
    /// In a line whose rest means nothing; what the next line is in.
    RestOfLine(Section),
    /// In a line of movetext.
    InMoves,
    /// In a brace comment.
    InComment,
}

/// The result of a step: the scanner continues, or needs more text.
enum Step {
    Continue,
    NeedMore,
}

impl Scanner {
    /// A scanner at the beginning of a file.
    pub fn new() -> Self {
        Scanner { state: State::LineStart(Section::Between), at: 0, game: None, comment: 0, unclosed_to: 0 }
    }

    /// Everything before here belongs to games that have ended, or to none.
    pub fn complete_until(&self) -> usize {
        self.game.unwrap_or(self.at)
    }

    /// Bytes of the game under way in text of `length` bytes.
    pub fn pending(&self, length: usize) -> usize {
        self.game.map_or(0, |start| length - start)
    }

    /// The first `bytes` bytes of the text, none of them after [`Scanner::complete_until`], were taken away.
    pub fn discard(&mut self, bytes: usize) {
        self.at -= bytes;
        self.game = self.game.map(|start| start - bytes);
        self.comment = self.comment.saturating_sub(bytes);
        self.unclosed_to = self.unclosed_to.saturating_sub(bytes);
    }

    /// Scans what was added to `text` since the last call and adds the games that ended. `last` says that no more will
    /// be added.
    pub fn scan(&mut self, text: &[u8], last: bool, games: &mut Vec<Span>) {
        loop {
            while let Step::Continue = self.step(text, last, games) {}
            if !last {
                return;
            }
            match self.state {
                State::InComment => self.abandon(MalformedText::UnterminatedComment, games),
                _ => break,
            }
        }
        self.end_game(text.len(), games);
    }

    /// Ends the game under way, whose end is too far away, as malformed.
    pub fn abandon_pending(&mut self, games: &mut Vec<Span>) {
        match self.state {
            State::InComment => self.abandon(MalformedText::UnterminatedComment, games),
            _ => self.abandon(MalformedText::TooLong, games),
        }
    }

    fn abandon(&mut self, why: MalformedText, games: &mut Vec<Span>) {
        if why == MalformedText::UnterminatedComment {
            self.at = self.comment;
        }
        if let Some(start) = self.game.take() {
            games.push(Span { start, end: self.at.max(start), malformed: Some(why) });
        }
        self.state = State::RestOfLine(Section::AfterBrokenGame { blank_line: false });
    }

    fn end_game(&mut self, end: usize, games: &mut Vec<Span>) {
        if let Some(start) = self.game.take() {
            games.push(Span { start, end, malformed: None });
        }
    }

    #[inline]
    fn step(&mut self, text: &[u8], last: bool, games: &mut Vec<Span>) -> Step {
        match self.state {
            State::LineStart(section) => self.line_start(section, text, last, games),
            State::RestOfLine(section) => match memchr(b'\n', &text[self.at..]) {
                Some(found) => {
                    self.at += found + 1;
                    self.state = State::LineStart(section);
                    Step::Continue
                }
                None => self.exhausted(text),
            },
            State::InMoves => match memchr3(b'\n', b'{', b';', &text[self.at..]) {
                Some(found) => {
                    let at = self.at + found;
                    self.at = at + 1;
                    self.state = match text[at] {
                        b'{' => {
                            self.comment = at;
                            State::InComment
                        }
                        b';' => State::RestOfLine(Section::Moves),
                        _ => State::LineStart(Section::Moves),
                    };
                    Step::Continue
                }
                None => self.exhausted(text),
            },
            State::InComment => {
                let from = self.at.max(self.unclosed_to).min(text.len());
                match memchr(b'}', &text[from..]) {
                    Some(found) => {
                        self.at = from + found + 1;
                        self.state = State::InMoves;
                        Step::Continue
                    }
                    None => {
                        self.unclosed_to = text.len();
                        self.exhausted(text)
                    }
                }
            }
        }
    }

    fn exhausted(&mut self, text: &[u8]) -> Step {
        self.at = text.len();
        Step::NeedMore
    }

    fn line_start(&mut self, section: Section, text: &[u8], last: bool, games: &mut Vec<Span>) -> Step {
        const BOM: &[u8] = b"\xef\xbb\xbf";
        let rest = &text[self.at..];
        if rest.first() == Some(&BOM[0]) || rest.is_empty() {
            if rest.starts_with(BOM) {
                // Another file was appended to this one.
                self.end_game(self.at, games);
                self.at += BOM.len();
                self.state = State::LineStart(Section::Between);
                return Step::Continue;
            }
            if BOM.starts_with(rest) && !last {
                return Step::NeedMore;
            }
        }
        let first = rest.iter().position(|&byte| byte == b'\n' || !is_space(byte));
        let Some(first) = first else {
            // Outside games the line's blanks need not be kept, but for one that says that it has begun.
            self.at = match section {
                _ if last => text.len(),
                Section::Between | Section::AfterBrokenGame { .. } => self.at.max(text.len().saturating_sub(1)),
                Section::Tags { .. } | Section::Moves => self.at,
            };
            return Step::NeedMore;
        };
        if rest[first] == b'\n' {
            self.blank_line(section, games);
            self.at += first + 1;
            return Step::Continue;
        }
        let ignored = rest[0] == b'%' || rest[first] == b';' && section != Section::Moves;
        match section {
            _ if ignored => self.state = State::RestOfLine(section),
            Section::AfterBrokenGame { blank_line } => {
                self.state = if blank_line && rest[0] == b'[' {
                    State::LineStart(Section::Between)
                } else {
                    State::RestOfLine(Section::AfterBrokenGame { blank_line: false })
                };
            }
            Section::Moves if rest[0] == b'[' => {
                self.end_game(self.at, games);
                self.state = State::LineStart(Section::Between);
            }
            Section::Moves => self.state = State::InMoves,
            Section::Tags { blank_lines } if rest[first] == b'[' => {
                if blank_lines >= 2 {
                    self.end_game(self.at, games);
                    self.game = Some(self.at);
                }
                self.state = State::RestOfLine(Section::Tags { blank_lines: 0 });
            }
            Section::Tags { .. } => self.state = State::InMoves,
            Section::Between => {
                self.at += first;
                self.game = Some(self.at);
                self.state = if rest[first] == b'[' {
                    State::RestOfLine(Section::Tags { blank_lines: 0 })
                } else {
                    State::InMoves
                };
            }
        }
        Step::Continue
    }

    fn blank_line(&mut self, section: Section, games: &mut Vec<Span>) {
        let next = match section {
            Section::Between => Section::Between,
            Section::Tags { blank_lines } => Section::Tags { blank_lines: blank_lines.saturating_add(1) },
            Section::Moves => {
                self.end_game(self.at, games);
                Section::Between
            }
            Section::AfterBrokenGame { .. } => Section::AfterBrokenGame { blank_line: true },
        };
        self.state = State::LineStart(next);
    }
}
