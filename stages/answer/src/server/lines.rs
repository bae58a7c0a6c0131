//! Reads a response line by line, within limits of time and size.

use std::io::BufRead;
use std::time::{Duration, Instant};

use super::server_error::ServerError;

/// The lines of a response.
pub struct Lines<R> {
    reader: R,
    /// The most bytes of a line.
    longest: usize,
    /// The longest time without content.
    timeout: Duration,
    /// The time of the last content.
    last: Instant,
}

impl<R: BufRead> Lines<R> {
    /// The lines of `reader`.
    pub fn new(reader: R, longest: usize, timeout: Duration) -> Self {
        Lines { reader, longest, timeout, last: Instant::now() }
    }

    /// Restarts the time without content, since some has come.
    pub fn mark_content(&mut self) {
        self.last = Instant::now();
    }

    /// The first byte that is no white space, which stays; `None` at the end.
    ///
    /// # Errors
    /// The connection breaks, or nothing but white space comes.
    pub fn first(&mut self) -> Result<Option<u8>, ServerError> {
        loop {
            let buffer = self.fill()?;
            let found = buffer.iter().position(|byte| !byte.is_ascii_whitespace());
            let (first, passed) = (found.map(|at| buffer[at]), found.unwrap_or(buffer.len()));
            let is_end = buffer.is_empty();
            self.reader.consume(passed);
            if first.is_some() || is_end {
                return Ok(first);
            }
        }
    }

    /// The next line without its end; `None` at the end.
    ///
    /// # Errors
    /// The connection breaks, no content comes, or the line is too long.
    pub fn next_line(&mut self) -> Result<Option<Vec<u8>>, ServerError> {
        let mut line = Vec::new();
        let mut is_end = self.read(&mut line, Some(b'\n'))?;
        while line.last().is_some_and(|byte| b"\r\n".contains(byte)) {
            line.pop();
            is_end = false;
        }
        Ok((!is_end || !line.is_empty()).then_some(line))
    }

    /// All that is left.
    ///
    /// # Errors
    /// Those of [`Lines::next_line`].
    pub fn rest(&mut self) -> Result<Vec<u8>, ServerError> {
        let mut rest = Vec::new();
        self.read(&mut rest, None)?;
        Ok(rest)
    }

    /// Reads up to and with the byte `until`. Returns true if the response ended before.
    fn read(&mut self, into: &mut Vec<u8>, until: Option<u8>) -> Result<bool, ServerError> {
        loop {
            let longest = self.longest;
            let buffer = self.fill()?;
            if buffer.is_empty() {
                return Ok(true);
            }
            let found = until.and_then(|end| buffer.iter().position(|byte| *byte == end));
            let taken = found.map_or(buffer.len(), |at| at + 1);
            if into.len() + taken > longest {
                return Err(ServerError::transient(
                    "too_large",
                    format!("the response holds more than {longest} bytes at once"),
                ));
            }
            into.extend_from_slice(&buffer[..taken]);
            self.reader.consume(taken);
            if found.is_some() {
                return Ok(false);
            }
        }
    }

    fn fill(&mut self) -> Result<&[u8], ServerError> {
        if self.last.elapsed() > self.timeout {
            return Err(ServerError::transient("silent", format!("no content for {} s", self.timeout.as_secs_f64())));
        }
        self.reader.fill_buf().map_err(|error| match error.kind() {
            std::io::ErrorKind::TimedOut => {
                ServerError::transient("silent", format!("the connection was idle for too long: {error}"))
            }
            _ => ServerError::transient("cut", format!("the connection broke: {error}")),
        })
    }
}
