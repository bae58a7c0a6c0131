//! The YAML parser's errors in our words.

use granit_parser::{ErrorKind, ScanError};

use cwm_core::{Diagnostic, Place, visible};

/// Returns the parser's error at its place in `text`, with a hint where the cause is a usual one.
pub fn not_yaml(error: &ScanError, text: &str, source: u32) -> Diagnostic {
    let at = error.marker();
    let start = at.byte_offset().or_else(|| text.char_indices().nth(at.index()).map(|(byte, _)| byte));
    let start = start.map_or(text.len(), |start| start.min(text.len()));
    let shown = text.get(start..).and_then(|rest| rest.chars().next()).filter(|letter| *letter != '\n');
    let end = start + shown.map_or(0, char::len_utf8);
    let (line, column) = (at.line() as u32, at.col() as u32 + 1);
    let place = Place { source, start: start as u32, end: end as u32, line, column };
    let message = match error.kind() {
        ErrorKind::UnknownAnchor => {
            let hint = "define it above with `&name`, or quote text with a `*`";
            return Diagnostic::at(place, "this alias refers to no anchor").hint(hint);
        }
        ErrorKind::RecursionLimitExceeded => return too_large(place, "more than 64 levels of nesting"),
        _ => format!("this is not YAML: {}", visible(&error.info())),
    };
    let hint = usual_cause(&message, text, start, source);
    Diagnostic::at(place, message).maybe_hint(hint.map(str::to_owned))
}

/// Reports a pipeline that is too large.
pub fn too_large(place: Place, what: &str) -> Diagnostic {
    Diagnostic::at(place, format!("this is no pipeline: it has {what}"))
}

/// Recognises frequent mistakes: tabs, and `${name}` inside braces; in a file also references inside braces, colons in text, and
/// wrong indentation.
fn usual_cause(message: &str, text: &str, at: usize, source: u32) -> Option<&'static str> {
    let before = text.get(..at)?;
    let from = before.rfind('\n').map_or(0, |newline| newline + 1);
    let mut lines = text.get(from..)?.lines();
    let (line, next) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let is_tab = |line: &str| line.trim_start_matches(' ').starts_with('\t');
    // The entry that the fault is in, or behind.
    let entry = before.get(from..)?.rsplit(['{', '[', ',']).next().unwrap_or_default();
    let in_braces = message.contains("while parsing a flow");
    let in_block = message.contains("mapping values are not allowed");
    if line.contains("${") {
        Some("a brace ends a plain value inside braces: write `$name` or quote \"${name}\"")
    } else if is_tab(line) || is_tab(next) {
        Some("YAML is indented with spaces, never with tabs")
    } else if source > 0 || !(in_braces || in_block) {
        None
    } else if holds_reference(line) {
        Some("a reference with brackets is quoted inside braces: \"stage[axis=value]\"")
    } else if entry.trim_end().trim_end_matches(':').contains(": ") {
        Some("quote text that holds `: `, as in 'echo a: b'; inside braces a comma separates entries")
    } else {
        in_block.then_some("the keys of one map begin in the same column")
    }
}

/// Returns true if a word is followed by a bracket and an equals sign inside braces: `{ from: model[size=…`, without a quote.
fn holds_reference(line: &str) -> bool {
    let is_quoted = |before: &str| before.matches(['"', '\'']).count() % 2 == 1;
    line.match_indices('[').any(|(at, _)| {
        let (before, after) = line.split_at(at);
        before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && before.contains('{')
            && after.split([',', ']', '}']).next().is_some_and(|inside| inside.contains('='))
            && !is_quoted(before)
    })
}
