//! The YAML parser's errors in our words.

use granit_parser::{ErrorKind, ScanError};

use cwm_core::{Diagnostic, Place, escape_controls};

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
        _ => format!("this is not YAML: {}", escape_controls(&error.info())),
    };
    let hint = usual_cause(&message, text, start);
    Diagnostic::at(place, message).maybe_hint(hint.map(str::to_owned))
}

/// Reports a pipeline that is too large.
pub fn too_large(place: Place, what: &str) -> Diagnostic {
    Diagnostic::at(place, format!("this is no pipeline: it has {what}"))
}

/// Recognises frequent mistakes: tabs, text without quotes inside braces and brackets, and wrong indentation.
fn usual_cause(message: &str, text: &str, at: usize) -> Option<&'static str> {
    let line = text.get(..at)?.rfind('\n').map_or(0, |newline| newline + 1);
    if text[line..].lines().take(2).any(|line| line.trim_start_matches(' ').starts_with('\t')) {
        Some("YAML is indented with spaces, never with tabs")
    } else if message.contains("while parsing a flow") {
        Some(
            "close each brace and bracket, and quote text with `{`, `[`, `,` or `: ` inside them: \"${name}\" (or $name), \
             \"stage[axis=value]\", 'echo a: b'",
        )
    } else if message.contains("mapping values are not allowed") {
        Some("the keys of one map begin in the same column; text that holds `: ` is quoted, as in 'echo a: b'")
    } else {
        None
    }
}
