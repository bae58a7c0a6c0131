//! The headers of a game.

use memchr::memchr;

use super::is_space;

/// The headers that matter, as written: `\"` stays two characters. Of two tags with one name the last counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tags<'a> {
    /// The place of the game; for Lichess the game's URL.
    pub site: Option<&'a str>,
    /// The result.
    pub result: Option<&'a str>,
    /// The rules it was played by.
    pub variant: Option<&'a str>,
    /// The position it began from.
    pub fen: Option<&'a str>,
    /// `1` where it did not begin from the initial position.
    pub set_up: Option<&'a str>,
}

impl<'a> Tags<'a> {
    /// Reads the tags at the beginning of a game's text; returns them and where the movetext begins. Malformed tag lines
    /// are passed over.
    pub fn read(text: &'a str) -> (Self, usize) {
        let mut tags = Tags::default();
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let length = memchr(b'\n', &bytes[at..]).unwrap_or(bytes.len() - at);
            let line = &text[at..at + length];
            match line.bytes().find(|&byte| !is_space(byte)) {
                Some(b'[') => tags.take_line(line),
                None | Some(b';') => {}
                Some(_) if line.starts_with('%') => {}
                Some(_) => break,
            }
            at += length + 1;
        }
        (tags, at.min(bytes.len()))
    }

    fn take_line(&mut self, line: &'a str) {
        let line = line.trim_matches(|c: char| c.is_ascii() && is_space(c as u8));
        let Some(inside) = line.strip_prefix('[') else { return };
        let slot = match inside.as_bytes() {
            [b'S', b'i', b't', b'e', ..] => (&mut self.site, 4),
            [b'R', b'e', b's', b'u', b'l', b't', ..] => (&mut self.result, 6),
            [b'V', b'a', b'r', b'i', b'a', b'n', b't', ..] => (&mut self.variant, 7),
            [b'F', b'E', b'N', ..] => (&mut self.fen, 3),
            [b'S', b'e', b't', b'U', b'p', ..] => (&mut self.set_up, 5),
            _ => return,
        };
        let (slot, name) = slot;
        let rest = &inside[name..];
        let value = rest.trim_start();
        let value = value
            .strip_suffix(']')
            .map(str::trim_end)
            .and_then(|value| value.strip_prefix('"'))
            .and_then(|value| value.strip_suffix('"'));
        if value.is_some() && rest.starts_with(|c: char| c.is_whitespace()) {
            *slot = value;
        }
    }
}
