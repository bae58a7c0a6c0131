//! The lines of a text, as Python's text mode with `newline=""` reads them.

use std::io::{self, BufRead, ErrorKind};

use memchr::memchr2;

/// Reads lines, which end with LF, CRLF or CR, that included. Longer ones than can be held come in pieces.
pub struct Lines<R> {
    input: R,
    longest: usize,
    line: Vec<u8>,
    /// True if the next piece belongs to the same line.
    is_cut: bool,
    /// The beginning of a character that the last piece was cut before.
    rest: Vec<u8>,
    /// Number of bytes of `line` that were dropped.
    skipped: usize,
    /// Offset of `line` in the text.
    start: u64,
    /// Offset of the next line.
    end: u64,
}

impl<R: BufRead> Lines<R> {
    /// Reads lines, or pieces of at most `longest` bytes.
    pub fn new(input: R, longest: usize) -> Self {
        Lines { input, longest, line: Vec::new(), is_cut: false, rest: Vec::new(), skipped: 0, start: 0, end: 0 }
    }

    /// The line read last; empty at the end of the text.
    pub fn line(&self) -> &[u8] {
        &self.line[self.skipped..]
    }

    /// Returns true if it is longer than this piece of it.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Offset in the text.
    pub fn start(&self) -> u64 {
        self.start + self.skipped as u64
    }

    /// Bytes of text read so far.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Drops the first `bytes` of the line.
    pub fn skip(&mut self, bytes: usize) {
        self.skipped += bytes;
    }

    /// Reads the next line or piece; returns where in the text it is not UTF-8.
    ///
    /// # Errors
    /// The stream fails.
    pub fn advance(&mut self) -> io::Result<Option<u64>> {
        self.line.clear();
        self.line.append(&mut self.rest);
        (self.skipped, self.is_cut) = (0, false);
        self.start = self.end - self.line.len() as u64;
        let mut ended_by_return = false;
        let mut ended = false;
        while !ended {
            let text = match self.input.fill_buf() {
                Ok([]) => break,
                Ok(text) => text,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let taken;
            if ended_by_return {
                // A line feed behind it belongs to it.
                (taken, ended) = (usize::from(text[0] == b'\n'), true);
            } else {
                let text = &text[..text.len().min(self.longest - self.line.len())];
                let end = memchr2(b'\n', b'\r', text);
                ended_by_return = end.is_some_and(|end| text[end] == b'\r');
                taken = end.map_or(text.len(), |end| end + 1);
                ended = end.is_some() && !ended_by_return;
            }
            self.line.extend_from_slice(&text[..taken]);
            self.input.consume(taken);
            self.end += taken as u64;
            if self.line.len() >= self.longest && !ended && !ended_by_return {
                self.is_cut = true;
                break;
            }
        }
        let Err(error) = std::str::from_utf8(&self.line) else { return Ok(None) };
        if self.is_cut && error.error_len().is_none() {
            self.rest = self.line.split_off(error.valid_up_to());
            return Ok(None);
        }
        Ok(Some(self.start + error.valid_up_to() as u64))
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn lines(input: impl BufRead, longest: usize) -> Vec<(Vec<u8>, bool, Option<u64>)> {
        let mut lines = Lines::new(input, longest);
        let mut all = Vec::new();
        loop {
            let bad = lines.advance().unwrap();
            if lines.line().is_empty() {
                return all;
            }
            all.push((lines.line().to_vec(), lines.is_cut(), bad));
        }
    }

    #[test]
    fn lines_end_in_three_ways() {
        let text = b"a\nb\r\nc\rd\r\r\n\n\re";
        let expected: Vec<&[u8]> = vec![b"a\n", b"b\r\n", b"c\r", b"d\r", b"\r\n", b"\n", b"\r", b"e"];
        for found in [lines(&text[..], 100), lines(BufReader::with_capacity(1, &text[..]), 4)] {
            assert_eq!(found.iter().map(|(line, ..)| &line[..]).collect::<Vec<_>>(), expected);
            assert!(found.iter().all(|(_, is_cut, bad)| !is_cut && bad.is_none()));
        }
    }

    #[test]
    fn bad_bytes_are_named_by_their_place_and_long_lines_are_cut_between_characters() {
        let found = lines("ab\nlongeéé line\nxy".as_bytes(), 8);
        let pieces: Vec<(&str, bool)> =
            found.iter().map(|(line, is_cut, _)| (std::str::from_utf8(line).unwrap(), *is_cut)).collect();
        assert_eq!(pieces, [("ab\n", false), ("longeé", true), ("é line\n", false), ("xy", false)]);
        assert!(found.iter().all(|(.., bad)| bad.is_none()));
        let found = lines(&b"ab\ncd\xffe\r\n\xc3"[..], 7);
        assert_eq!(found.iter().map(|(.., bad)| *bad).collect::<Vec<_>>(), [None, Some(5), Some(9)]);
    }
}
