//! The YAML parser's errors in our words.

use serde_yaml::budget::BudgetBreach;
use serde_yaml::{DefaultMessageFormatter, Error, MessageFormatter};

use cwm_core::diagnostics::{Diagnostic, Place};
use cwm_core::text::visible;

/// Whether this says that a key is written twice.
pub fn is_duplicate(error: &Error) -> bool {
    matches!(original(error), Error::DuplicateMappingKey { .. })
}

/// The error at its place in `text`, with a hint where the cause is a usual one.
pub fn diagnostic(error: &Error, text: &str, source: u32) -> Diagnostic {
    let (message, hint) = words(original(error));
    let Some(at) = error.location() else { return Diagnostic::nowhere(message).maybe_hint(hint) };
    let start = at.span().byte_offset().map_or_else(
        || text.char_indices().nth(at.span().offset() as usize).map_or(text.len(), |(byte, _)| byte),
        |byte| (byte as usize).min(text.len()),
    );
    let length = at.span().byte_len().unwrap_or(0) as usize;
    let rest = text.get(start..).unwrap_or_default();
    let end = match rest.get(..length) {
        Some(span) if length > 0 => start + span.trim_end().len().max(1).min(length),
        _ => start + rest.chars().next().filter(|letter| *letter != '\n').map_or(0, char::len_utf8),
    };
    let place =
        Place { source, start: start as u32, end: end as u32, line: at.line() as u32, column: at.column() as u32 };
    let hint = hint.or_else(|| usual_cause(text, start)).or_else(|| cause_in_file(&message, text, start, source));
    Diagnostic::at(place, message).maybe_hint(hint)
}

fn original(error: &Error) -> &Error {
    match error.without_snippet() {
        Error::AliasError { error, .. } => original(error),
        other => other,
    }
}

fn words(error: &Error) -> (String, Option<String>) {
    let (message, hint) = match error {
        Error::DuplicateMappingKey { key, .. } => {
            (format!("`{}` is written twice", key.as_deref().unwrap_or("this key")), "remove one of the two")
        }
        Error::MultipleDocuments { .. } => {
            ("a pipeline file is one YAML document, and here a second one begins".into(), "remove the `---`")
        }
        Error::UnknownAnchor { .. } => {
            ("this alias refers to no anchor".into(), "define it above with `&name`, or quote text with a `*`")
        }
        Error::RecursiveReferencesRequireWeakTypes { .. } => ("this alias stands inside what it refers to".into(), ""),
        Error::NullIntoString { .. } | Error::Unexpected { expected: "string scalar", .. } => {
            ("a key must be text".into(), "quote it")
        }
        Error::MergeValueNotMapOrSeqOfMaps { .. } => ("what `<<` brings in must be a map or a list of maps".into(), ""),
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. } => too_large("aliases that stand for far too much"),
        Error::Budget { breach, .. } => match breach {
            BudgetBreach::Depth { .. } => too_large("more than 64 levels of nesting"),
            BudgetBreach::Aliases { .. } => too_large("more than 10,000 aliases"),
            BudgetBreach::MergeKeys { .. } => too_large("more than 10,000 merge keys"),
            BudgetBreach::RecordedAnchorEvents { .. } | BudgetBreach::RecordedAnchorBytes { .. } => {
                too_large("anchors that stand for far too much")
            }
            BudgetBreach::Nodes { .. } | BudgetBreach::Events { .. } => {
                too_large("more than two million values, counting what aliases stand for")
            }
            other => too_large(&format!("{other:?}")),
        },
        other => {
            let text = visible(&DefaultMessageFormatter.format_message(other));
            match text.as_str() {
                "recursion limit exceeded" => too_large("more than 64 levels of nesting"),
                _ => (format!("this is not YAML: {text}"), ""),
            }
        }
    };
    (message, Some(hint.to_owned()).filter(|hint| !hint.is_empty()))
}

fn too_large(what: &str) -> (String, &'static str) {
    (format!("this is no pipeline: it has {what}"), "")
}

/// What people do again and again: tabs, and `${name}` inside braces.
fn usual_cause(text: &str, at: usize) -> Option<String> {
    let before = text.get(..at)?;
    let from = before.rfind('\n').map_or(0, |newline| newline + 1);
    let mut lines = text.get(from..)?.lines();
    let (line, next) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let tab = |line: &str| line.trim_start_matches(' ').starts_with('\t');
    if line.contains("${") {
        Some("a brace ends a plain value inside braces: write `$name` or quote \"${name}\"".into())
    } else if tab(line) || tab(next) {
        Some("YAML is indented with spaces, never with tabs".into())
    } else {
        None
    }
}

/// The same of a file: references inside braces, colons in text, crooked indentation.
fn cause_in_file(message: &str, text: &str, at: usize, source: u32) -> Option<String> {
    let before = text.get(..at)?;
    let from = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text.get(from..)?.lines().next().unwrap_or_default();
    let (in_braces, in_block) =
        (message.contains("while parsing a flow"), message.contains("mapping values are not allowed"));
    if source > 0 || !(in_braces || in_block) {
        return None;
    }
    if holds_reference(line) {
        return Some("a reference with brackets is quoted inside braces: \"stage[axis=value]\"".into());
    }
    // The entry that the fault is in, or behind.
    let entry = before.get(from..)?.rsplit(['{', '[', ',']).next().unwrap_or_default();
    if entry.trim_end().trim_end_matches(':').contains(": ") {
        Some("quote text that holds `: `, as in 'echo a: b'; inside braces a comma stands between entries".into())
    } else if in_block {
        Some("the keys of one map begin in the same column".into())
    } else {
        None
    }
}

/// Whether a word is followed by a bracket and an equals sign inside braces: `{ from: model[size=…`, without a quote.
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
