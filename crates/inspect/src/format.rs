//! Numbers as people read them, and lines of them.

use cwm_contract::{escape_characters, is_hidden};

/// `1,234,567`.
pub fn with_separators(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `4.8 %`; of nothing, nothing.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "0 %".to_owned() } else { format!("{:.1} %", part as f64 * 100.0 / whole as f64) }
}

/// `1 game`, `2 games`: of words that take an `s`.
pub fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", with_separators(count), if count == 1 { "" } else { "s" })
}

/// One line: a name in a column of its own, then what it is.
pub fn line(name: &str, value: impl AsRef<str>) -> String {
    format!("{name:<12}{}{}", if name.chars().count() < 12 { "" } else { " " }, value.as_ref())
}

/// Text from a file on one line of a terminal: hidden characters escaped, and no longer than `longest` characters.
pub fn escape_controls(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => escape_characters(&text[..end], is_hidden) + "…",
        None => escape_characters(text, is_hidden),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1000, 1234567].map(with_separators), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!((percent(1, 3), percent(0, 0)), ("33.3 %".to_owned(), "0 %".to_owned()));
        assert_eq!([1, 2, 0].map(|count| counted(count, "game")), ["1 game", "2 games", "0 games"]);
        assert_eq!(line("games", "3"), "games       3");
        assert_eq!(line("rook_captured_right", "3"), "rook_captured_right 3");
    }

    #[test]
    fn nothing_in_a_file_controls_the_terminal() {
        assert_eq!(escape_controls("a\u{1b}[31m\n\u{202e}b", 20), "a\\u{1b}[31m\\n\\u{202e}b");
        assert_eq!(escape_controls("abcdef", 3), "abc…");
    }
}
