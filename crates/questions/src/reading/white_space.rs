//! White space as Python has it, in `strip` and in patterns.

/// Returns true if the character is white space: that of Unicode, and four separators of ASCII besides.
pub fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
}

/// The text without white space at both ends.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}
