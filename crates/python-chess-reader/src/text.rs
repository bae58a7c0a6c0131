//! Text as Python sees it.

/// Returns true if Python counts `symbol` as white space: what Unicode does, and the four separators of ASCII.
pub fn is_space(symbol: char) -> bool {
    symbol.is_whitespace() || matches!(symbol, '\x1c'..='\x1f')
}

/// Returns true if there is nothing but white space on a line; a line that is not UTF-8 holds more.
pub fn is_blank(line: &[u8]) -> bool {
    match line.iter().find(|&&byte| !matches!(byte, b'\t'..=b'\r' | b'\x1c'..=b' ')) {
        None => !line.is_empty(),
        Some(byte) if byte.is_ascii() => false,
        Some(_) => std::str::from_utf8(line).is_ok_and(|line| line.chars().all(is_space)),
    }
}

/// `text` without white space at both ends.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Splits a text at white space.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// Digits that Python reads as one number; more are an error.
pub const MAX_DIGITS: usize = 4300;

/// A whole number as Python reads it: a sign, digits, single underscores between them. Those beyond an `i64` become the
/// nearest. Only ASCII digits count, while Python takes those of every script.
pub fn integer(text: &str) -> Option<i64> {
    let (sign, digits) = match text.as_bytes() {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] => (1, digits),
        digits => (1, digits),
    };
    let mut value = 0i64;
    let mut count = 0;
    for group in digits.split(|&byte| byte == b'_') {
        if group.is_empty() || !group.iter().all(u8::is_ascii_digit) {
            return None;
        }
        count += group.len();
        for digit in group {
            value = value.saturating_mul(10).saturating_add(i64::from(digit - b'0'));
        }
    }
    (count <= MAX_DIGITS).then_some(sign * value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_python_s() {
        for (text, value) in [
            ("0", Some(0)),
            ("+007", Some(7)),
            ("-1_000", Some(-1000)),
            ("99999999999999999999999", Some(i64::MAX)),
            ("", None),
            ("-", None),
            ("1__0", None),
            ("_1", None),
            ("1_", None),
            ("1.0", None),
            ("--1", None),
        ] {
            assert_eq!(integer(text), value, "{text}");
        }
        assert_eq!(integer(&"0".repeat(4300)), Some(0));
        assert_eq!(integer(&"0".repeat(4301)), None);
    }

    #[test]
    fn white_space_is_python_s() {
        for blank in [" ", "\n", "\x1c\x1f\x0b\r\n", "\u{85}", "\u{a0}\u{2003}\n"] {
            assert!(is_blank(blank.as_bytes()), "{blank:?}");
        }
        for text in ["", "\0\n", "\u{feff}\n", "\u{200b}", " .", "\x7f"] {
            assert!(!is_blank(text.as_bytes()), "{text:?}");
        }
        assert!(!is_blank(b" \xff\n"));
        assert_eq!(strip("\x1e a b\u{a0}"), "a b");
        assert_eq!(words("\x1d a \n b").collect::<Vec<_>>(), ["a", "b"]);
    }
}
