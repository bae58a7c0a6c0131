//! A stream of text cut into blocks of whole lines.

use std::io::{self, ErrorKind, Read};

use memchr::{memchr, memrchr};

/// Bytes that a line may have at most: a longer one is no game, and must not fill the memory.
pub const MAX_LINE_BYTES: usize = 16 << 20;

/// Bytes of a block, about.
const BLOCK: usize = 1 << 20;

/// Some whole lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Block {
    text: Vec<u8>,
    /// Bytes that a line may have.
    longest: usize,
    /// Lines of the file before the first of this block.
    lines_before: u64,
    /// True if this is one line that is too long; its text is left out.
    too_long: bool,
}

/// The content of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// Its text, without its end.
    Text(&'a [u8]),
    /// More than [`MAX_LINE_BYTES`].
    TooLong,
}

impl Block {
    /// The lines that are not blank, each with its number in the file, from 1.
    pub fn lines(&self) -> impl Iterator<Item = (u64, Line<'_>)> {
        let too_long = self.too_long.then_some((self.lines_before + 1, Line::TooLong));
        let texts = (self.lines_before + 1..).zip(self.text.split(|&byte| byte == b'\n'));
        let written = texts.filter(|(_, text)| !text.trim_ascii().is_empty());
        let lines = written
            .map(|(number, text)| (number, if text.len() > self.longest { Line::TooLong } else { Line::Text(text) }));
        too_long.into_iter().chain(lines)
    }
}

/// Reads blocks from a stream.
pub struct Lines<R> {
    input: R,
    longest: usize,
    /// The beginning of a line that did not end in the last block.
    rest: Vec<u8>,
    lines: u64,
    ended: bool,
}

impl<R: Read> Lines<R> {
    /// Cuts `input`.
    pub fn new(input: R) -> Self {
        Lines::with_longest(input, MAX_LINE_BYTES)
    }

    fn with_longest(input: R, longest: usize) -> Self {
        Lines { input, longest, rest: Vec::new(), lines: 0, ended: false }
    }

    /// The next block; `None` at the end.
    ///
    /// # Errors
    /// The stream cannot be read on.
    pub fn next(&mut self) -> io::Result<Option<Block>> {
        let mut text = std::mem::take(&mut self.rest);
        let mut searched = 0;
        while !self.ended {
            let before = text.len();
            text.resize(before + BLOCK, 0);
            let read = fill(&mut self.input, &mut text[before..])?;
            text.truncate(before + read);
            self.ended = read < BLOCK;
            if let Some(end) = memrchr(b'\n', &text[searched..]) {
                self.rest = text.split_off(searched + end + 1);
                break;
            }
            searched = text.len();
            if text.len() > self.longest {
                return self.pass_over_line().map(Some);
            }
        }
        if text.is_empty() {
            return Ok(None);
        }
        let block = Block { text, longest: self.longest, lines_before: self.lines, too_long: false };
        self.lines += memchr::memchr_iter(b'\n', &block.text).count() as u64;
        Ok(Some(block))
    }

    /// Reads to the end of a line of which nothing is kept.
    fn pass_over_line(&mut self) -> io::Result<Block> {
        let mut piece = vec![0; BLOCK];
        while !self.ended {
            let read = fill(&mut self.input, &mut piece)?;
            self.ended = read < BLOCK;
            if let Some(end) = memchr(b'\n', &piece[..read]) {
                self.rest = piece[end + 1..read].to_vec();
                break;
            }
        }
        let block = Block { text: Vec::new(), longest: self.longest, lines_before: self.lines, too_long: true };
        self.lines += 1;
        Ok(block)
    }
}

/// Fills `room` as far as the stream goes.
fn fill(input: &mut impl Read, room: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < room.len() {
        match input.read(&mut room[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Hands out at most so many bytes at a time.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            let count = room.len().min(self.1).min(self.0.len());
            room[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn all(text: &[u8], longest: usize, drop: usize) -> Vec<(u64, Option<Vec<u8>>)> {
        let mut lines = Lines::with_longest(Drops(text, drop), longest);
        let mut found = Vec::new();
        while let Some(block) = lines.next().unwrap() {
            assert!(block.text.len() <= longest + 3 * BLOCK, "memory stays bounded");
            found.extend(block.lines().map(|(number, line)| match line {
                Line::Text(text) => (number, Some(text.to_vec())),
                Line::TooLong => (number, None),
            }));
        }
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn every_line_comes_once_with_its_number(
            lengths in proptest::collection::vec(prop_oneof![4 => 0..3usize, 2 => 0..4000usize, 1 => 0..4 * BLOCK], 0..24),
            ends in any::<bool>(),
            drop in prop_oneof![Just(7919usize), Just(BLOCK), Just(usize::MAX)],
        ) {
            let mut text = vec![b'x'; lengths.iter().sum()];
            let mut at = 0;
            for length in &lengths {
                at += length;
                text.insert(at, b'\n');
                at += 1;
            }
            if !ends {
                text.pop();
            }
            let longest = BLOCK + BLOCK / 2;
            let expected: Vec<_> = (1..).zip(&lengths).filter(|(_, length)| **length > 0).map(|(number, &length)| {
                (number, (length <= longest).then(|| vec![b'x'; length]))
            }).collect();
            prop_assert!(all(&text, longest, drop) == expected);
        }
    }

    #[test]
    fn blank_lines_are_counted_and_passed_over() {
        let text = b"\n \r\na\r\n\nb";
        assert_eq!(all(text, 9, 1), [(3, Some(b"a\r".to_vec())), (5, Some(b"b".to_vec()))]);
        assert_eq!(all(b"", 9, 1), []);
    }
}
