//! Removes the markup around an answer: Markdown, LaTeX, quotes and brackets.

use crate::reading::white_space::is_space;

/// LaTeX commands that only format their content.
const WRAPPERS: [&str; 4] = ["\\boxed{", "\\text{", "\\mathrm{", "\\texttt{"];

/// The text with each LaTeX command that only formats its content replaced by that content.
pub fn unwrap(text: &str) -> String {
    let (mut unwrapped, mut rest) = (String::with_capacity(text.len()), text);
    // For each open brace: true if it belongs to a wrapper.
    let mut open = Vec::new();
    while let Some(character) = rest.chars().next() {
        if let Some(after) = WRAPPERS.iter().find_map(|wrapper| rest.strip_prefix(wrapper)) {
            open.push(true);
            rest = after;
            continue;
        }
        match character {
            '{' => open.push(false),
            '}' if open.pop() == Some(true) => {
                rest = &rest[1..];
                continue;
            }
            _ => {}
        }
        unwrapped.push(character);
        rest = &rest[character.len_utf8()..];
    }
    unwrapped
}

/// Returns true if the character means nothing at the ends of an answer: white space, stars, underscores, backticks, dollars, full
/// stops.
pub fn is_markup(character: char) -> bool {
    is_space(character) || "*_`$.".contains(character)
}

/// The text without markup at both ends.
pub fn bare(text: &str) -> &str {
    text.trim_matches(is_markup)
}

/// The text without markup, quotes and brackets at both ends.
pub fn bare_word(text: &str) -> &str {
    text.trim_matches(|character| is_markup(character) || "\"'()[]{}".contains(character))
}
