//! Lines out of bytes as they arrive.

/// The bytes that a program wrote, taken line by line.
#[derive(Default)]
pub struct Lines {
    bytes: Vec<u8>,
    /// The number of bytes at the front that are in lines that were taken.
    consumed_bytes: usize,
    /// The number of bytes that hold no line end that was not taken.
    searched_bytes: usize,
}

impl Lines {
    /// Appends bytes that were read.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.consumed_bytes);
        self.searched_bytes -= self.consumed_bytes;
        self.consumed_bytes = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole line, without its end. Bytes that are no UTF-8 are replaced.
    pub fn next_line(&mut self) -> Option<String> {
        match self.bytes[self.searched_bytes..].iter().position(|byte| *byte == b'\n') {
            Some(at) => {
                let end = self.searched_bytes + at;
                let line = text(&self.bytes[self.consumed_bytes..end]);
                (self.consumed_bytes, self.searched_bytes) = (end + 1, end + 1);
                Some(line)
            }
            None => {
                self.searched_bytes = self.bytes.len();
                None
            }
        }
    }

    /// The text after the last whole line, once no more will come.
    pub fn rest(&mut self) -> Option<String> {
        let rest = text(&self.bytes[self.consumed_bytes..]);
        *self = Lines::default();
        Some(rest).filter(|rest| !rest.is_empty())
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_however_the_bytes_arrive() {
        let all = b"one\r\n\ntwo \xff\nrest";
        for size in 1..all.len() {
            let (mut lines, mut found) = (Lines::default(), Vec::new());
            for part in all.chunks(size) {
                lines.push(part);
                found.extend(std::iter::from_fn(|| lines.next_line()));
            }
            assert_eq!(found, ["one", "", "two \u{fffd}"], "{size}");
            assert_eq!((lines.rest().as_deref(), lines.rest()), (Some("rest"), None));
        }
    }
}
