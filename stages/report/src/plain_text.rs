//! Text from data, made safe for each kind of file.
//!
//! Labels, reasons and names come from pipelines and files that anyone may have written. [`visible`] is applied where
//! such text enters the report; escaping happens where it leaves it.

/// The text with characters that no reader should meet (control characters, those that reorder text, and those that
/// XML forbids) replaced by U+FFFD.
pub(crate) fn visible(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
            other if other.is_control() => '\u{fffd}',
            other => other,
        })
        .collect()
}

/// Escaped for XML and HTML, both between tags and inside quoted attributes.
pub(crate) fn markup(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Escaped for a cell of a Markdown table.
pub(crate) fn markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\n' | '\r' => escaped.push(' '),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '~' | '$' => escaped.extend(['\\', character]),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Quoted for a field of a CSV file where that is needed (RFC 4180).
pub(crate) fn csv(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// A name that any file system and any address takes: lower-case letters, digits, `-` and `_`.
pub(crate) fn file_name(text: &str) -> String {
    let name: String = text
        .chars()
        .map(|character| match character.to_ascii_lowercase() {
            plain @ ('a'..='z' | '0'..='9' | '-' | '_') => plain,
            _ => '-',
        })
        .take(60)
        .collect();
    if name.trim_matches('-').is_empty() { "unnamed".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_harmless_everywhere() {
        let hostile = "<script>\"a\"|'b'&`c`\u{202e}\u{0}";
        let text = visible(hostile);
        assert_eq!(text, "<script>\"a\"|'b'&`c`\u{fffd}\u{fffd}");
        assert_eq!(markup(&text), "&lt;script&gt;&quot;a&quot;|&#39;b&#39;&amp;`c`\u{fffd}\u{fffd}");
        assert_eq!(markdown(&text), "&lt;script&gt;\"a\"\\|'b'&amp;\\`c\\`\u{fffd}\u{fffd}");
        assert_eq!(csv("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(file_name("../A b<script>"), "---a-b-script-");
        assert_eq!(file_name("…/"), "unnamed");
    }
}
