//! Text from files and stages, made harmless for a terminal.
//!
//! A column of somebody's table, a heading of a report, the words of a query's engine: a terminal must not obey control
//! characters in them, nor show them in another order than they have.

use cwm_contract::{escape_characters, is_hidden};

/// Returns the text with every character written out (`\u{1b}`) that controls a terminal, reorders text or is not seen.
pub fn escape_controls(text: &str) -> String {
    escape_characters(text, is_hidden)
}

/// Does the same as [`escape_controls`] for a text of several lines. Line breaks and tabs stay.
pub fn escape_controls_in_lines(text: &str) -> String {
    escape_characters(text, |character| is_hidden(character) && !matches!(character, '\n' | '\t'))
}

/// Returns a line of a log as a terminal would leave it: what was written over is gone (progress bars return to the start of
/// the line), and colours and other sequences are left out. What is left of them goes through [`escape_controls`].
pub fn strip_ansi(line: &str) -> String {
    let text = anstream::adapter::strip_str(line).to_string();
    let last = text.split('\r').rfind(|part| !part.trim().is_empty()).unwrap_or_default();
    escape_controls(&last.replace('\t', "    "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_or_hides_is_written_out() {
        let terminal = "\u{0}\u{7}\u{1b}\u{7f}\u{9b}\r";
        let order = "\u{61c}\u{200f}\u{2028}\u{2029}\u{202e}\u{2066}\u{2069}";
        let unseen = "\u{ad}\u{180e}\u{200b}\u{feff}\u{e0000}\u{e0041}\u{e0fff}";
        for hidden in [terminal, order, unseen].concat().chars() {
            let escaped = format!("a{}b", hidden.escape_default());
            assert_eq!(escape_controls(&format!("a{hidden}b")), escaped);
            assert_eq!(escape_controls_in_lines(&format!("a{hidden}b")), escaped);
        }
        assert_eq!(escape_controls("\u{1b}[31m\u{202e}"), r"\u{1b}[31m\u{202e}");
    }

    #[test]
    fn a_line_of_a_log_is_what_a_terminal_would_leave() {
        assert_eq!(strip_ansi("\u{1b}[31mred\u{1b}[0m and \u{1b}]0;title\u{7}plain"), "red and plain");
        assert_eq!(strip_ansi("10%\r50%\r100%\r"), "100%");
        assert_eq!(strip_ansi("a\tb\u{202e}c"), "a    b\\u{202e}c");
        assert_eq!(strip_ansi("\r"), "");
    }

    #[test]
    fn what_people_read_stays_as_it_is() {
        let read = "Größe – “x” \\u 対局 ♞ 1 000…";
        assert_eq!((escape_controls(read), escape_controls_in_lines(read)), (read.to_owned(), read.to_owned()));
        assert_eq!(escape_controls_in_lines("one\n\ttwo"), "one\n\ttwo");
        assert_eq!(escape_controls("one\n\ttwo"), r"one\n\ttwo");
    }
}
