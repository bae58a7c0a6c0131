//! Text from data, made safe for each kind of file.
//!
//! Labels, reasons and names come from pipelines and files that anyone may have written. [`escape_controls`] is applied where
//! such text enters the report; escaping happens where it leaves it.

/// Returns the text with unsafe characters (control characters, those that reorder text or are not seen, and
/// those that XML forbids) replaced by U+FFFD. The contract's `is_hidden` is for terminals; output bytes must not depend on
/// it, since no fingerprint covers the contract.
pub fn escape_controls(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' => '\u{fffd}',
            '\u{e0000}'..='\u{e0fff}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
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

/// Quoted for a field of a CSV file where that is needed (RFC 4180). A text that a spreadsheet would take for a formula
/// gets an apostrophe before it, which marks text in spreadsheets.
pub(crate) fn csv(text: &str) -> String {
    let harmless = match text.trim_start().chars().next() {
        Some('=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠') => format!("'{text}"),
        _ => text.to_owned(),
    };
    match harmless.contains([',', ';', '"', '\n', '\r', '\t']) {
        true => format!("\"{}\"", harmless.replace('"', "\"\"")),
        false => harmless,
    }
}

/// Escaped for LaTeX, for text and captions, whatever the encoding of its fonts. Characters that LaTeX has no letter for
/// are shown by their numbers: `U+4E2D`.
pub(crate) fn latex(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', character]),
            '<' | '>' | '|' => escaped.extend(['$', character, '$']),
            // By their place in the font: some languages make commands of them.
            '"' => escaped.push_str("{\\char34}"),
            '`' => escaped.push_str("{\\char96}"),
            // In braces, lest two become one, or a line's end take them for its argument.
            '-' | '\'' | ',' | '[' | ']' | '*' | '!' | '?' => escaped.extend(['{', character, '}']),
            '–' => escaped.push_str("--"),
            '—' => escaped.push_str("---"),
            '−' => escaped.push_str("$-$"),
            '±' => escaped.push_str("$\\pm$"),
            '×' => escaped.push_str("$\\times$"),
            '≈' => escaped.push_str("$\\approx$"),
            'β' => escaped.push_str("$\\beta$"),
            '…' => escaped.push_str("\\ldots{}"),
            '\u{fffd}' => escaped.push_str("$\\diamond$"),
            '⁻' => escaped.push_str("$^{-}$"),
            '₂' => escaped.push_str("$_2$"),
            '⁰' | '¹' | '²' | '³' | '⁴'..='⁹' => {
                escaped.push_str(&format!("$^{{{}}}$", raised_digit(character)))
            }
            // Letters that every font of LaTeX's has or can put together.
            'À'..='Ï' | 'Ñ'..='Ö' | 'Ø'..='Ý' | 'ß'..='ï' | 'ñ'..='ö' | 'ø'..='ý' | 'ÿ' => {
                escaped.push(character)
            }
            printable @ ' '..='~' => escaped.push(printable),
            other => escaped.push_str(&format!("\\texttt{{U+{:04X}}}", u32::from(other))),
        }
    }
    escaped
}

fn raised_digit(character: char) -> u32 {
    match character {
        '¹' => 1,
        '²' => 2,
        '³' => 3,
        other => u32::from(other) - u32::from('⁰'),
    }
}

/// Makes a name that is valid in any file system and any URL: lower-case letters, digits, `-` and `_`.
pub fn file_name(text: &str) -> String {
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
    fn every_character_means_itself_in_latex() {
        assert_eq!(
            latex("\\input{x} 100 % $a_1^2 ~ #&"),
            "\\textbackslash{}input\\{x\\} 100 \\% \\$a\\_1\\textasciicircum{}2 \\textasciitilde{} \\#\\&"
        );
        assert_eq!(latex("[*] -- ''"), "{[}{*}{]} {-}{-} {'}{'}");
        assert_eq!(latex("<|>\"`"), "$<$$|$$>${\\char34}{\\char96}");
        assert_eq!(latex("−4.43×10¹⁷ ± 1"), "$-$4.43$\\times$10$^{1}$$^{7}$ $\\pm$ 1");
        assert_eq!(latex("Élan 中\u{fffd}"), "Élan \\texttt{U+4E2D}$\\diamond$");
    }

    #[test]
    fn hostile_text_is_harmless_everywhere() {
        let hostile = "<script>\"a\"|'b'&`c`\u{202e}\u{0}";
        let text = escape_controls(hostile);
        assert_eq!(text, "<script>\"a\"|'b'&`c`\u{fffd}\u{fffd}");
        assert_eq!(markup(&text), "&lt;script&gt;&quot;a&quot;|&#39;b&#39;&amp;`c`\u{fffd}\u{fffd}");
        assert_eq!(csv("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(csv("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
        assert_eq!((csv(" @a"), csv("−1"), csv("a=b")), ("' @a".into(), "−1".into(), "a=b".into()));
        assert_eq!(file_name("../A b<script>"), "---a-b-script-");
        assert_eq!(file_name("…/"), "unnamed");
    }
}
