//! The published extraction, as Python's patterns have it; each is one pass over the text.

use crate::reading::white_space::{is_space, strip};

/// The heading of an answer, which matches in any case.
const HEADING: &str = "final answer:";

/// The text of the answer, empty if nothing stands there; none if there is no answer.
///
/// The last match of `FINAL ANSWER:\s*(.+?)(?:\n|$)` (in any case, the dot any character) without white space, one more heading
/// and stars; without a match the last of `[Tt]he\s+final\s+answer\s+is\s+\$?\\boxed\{([^}]+)\}\$?`.
pub fn extract(response: &str) -> Option<String> {
    match last_line(response) {
        Some(line) => Some(clean(line).to_owned()),
        None => last_boxed(response).map(|text| strip(text).to_owned()),
    }
}

fn last_line(text: &str) -> Option<&str> {
    let (mut found, mut rest) = (None, text);
    while let Some(after) = after_heading(rest) {
        let answer = after.trim_start_matches(is_space);
        if answer.is_empty() {
            // The pattern leaves the last of the white space to the answer, if there is any.
            return if after.is_empty() { found } else { Some("") };
        }
        let (line, next) = answer.split_once('\n').unwrap_or((answer, ""));
        (found, rest) = (Some(line), next);
    }
    found
}

/// The text after the first heading.
fn after_heading(text: &str) -> Option<&str> {
    let starts = text.char_indices().filter(|(_, character)| lower(*character) == 'f');
    starts.into_iter().find_map(|(start, _)| without_heading(&text[start..]))
}

/// The text after the heading with which it begins.
fn without_heading(text: &str) -> Option<&str> {
    without_word(text, HEADING)
}

/// The text without the word with which it begins, in any case; the word is in lower case.
pub fn without_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let mut characters = text.chars();
    let is_word = word.chars().all(|wanted| characters.next().map(lower) == Some(wanted));
    is_word.then_some(characters.as_str())
}

/// The lower case by which Python's patterns compare: some letters beyond ASCII are those of the heading too.
pub fn lower(character: char) -> char {
    match character {
        'İ' | 'ı' => 'i',
        'ſ' => 's',
        other => other.to_ascii_lowercase(),
    }
}

fn clean(line: &str) -> &str {
    let line = strip(line);
    let line = without_heading(line).map_or(line, strip);
    strip(line.trim_matches('*'))
}

fn last_boxed(text: &str) -> Option<&str> {
    let (mut found, mut rest) = (None, text);
    while let Some(start) = rest.find(['t', 'T']) {
        let from = &rest[start..];
        match after_announcement(from).map(|inside| inside.split_once('}')) {
            None => rest = &from[1..],
            // The pattern wants something within the braces.
            Some(Some(("", _))) => rest = &from[1..],
            Some(Some((inside, after))) => (found, rest) = (Some(inside), after),
            // No brace is closed after this one.
            Some(None) => break,
        }
    }
    found
}

/// The text after `the final answer is \boxed{`, with which it begins.
fn after_announcement(text: &str) -> Option<&str> {
    let mut rest = &text[1..];
    for word in ["he", "final", "answer", "is"] {
        let after = rest.strip_prefix(word)?;
        rest = after.trim_start_matches(is_space);
        if rest.len() == after.len() {
            return None;
        }
    }
    rest.strip_prefix('$').unwrap_or(rest).strip_prefix("\\boxed{")
}
