//! Characters that do not reach a terminal from a file.

/// Returns true if a terminal obeys this character, reorders text by it, or does not show it.
pub fn is_hidden(character: char) -> bool {
    let is_known = matches!(character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    is_known || character.is_control()
}

/// Returns the text with the characters for which `is_bad` is true escaped, as in `\u{1b}`.
pub fn escape_characters(text: &str, is_bad: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match is_bad(character) {
            true => escaped.extend(character.escape_default()),
            false => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped_and_others_stay() {
        for hidden in "\u{0}\n\u{1b}\u{7f}\u{9b}\u{ad}\u{61c}\u{202e}\u{2066}\u{feff}\u{e0041}".chars() {
            let escaped = format!("a{}b", hidden.escape_default());
            assert_eq!(escape_characters(&format!("a{hidden}b"), is_hidden), escaped);
        }
        let read = "Größe – “x” \\u 対局 ♞ 1 000…";
        assert_eq!(escape_characters(read, is_hidden), read);
    }
}
