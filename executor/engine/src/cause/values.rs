//! The text of values, and of the difference between two of them.

use cwm_contract::Value;
use cwm_core::shorten;

use cwm_action::source_key;

/// Characters of a value that are shown.
const MAX_LENGTH: usize = 80;

/// Characters that two values share and that are shown before the first that differs.
const CONTEXT: usize = 20;

/// Returns the text of a value: files and secrets by digest, long text shortened.
pub fn readable(value: &Value) -> String {
    shorten(&full_text(value), MAX_LENGTH)
}

/// Returns the text of two values that differ: the place of the first difference in a text of several lines (` from its line 3
/// on`), and both values from there. Of longer texts the shared beginning is left out.
pub fn change(old: &Value, new: &Value) -> (String, String, String) {
    let (mut before, mut now) = (full_text(old), full_text(new));
    if before.trim_end() == now.trim_end() || is_misread(old) || is_misread(new) {
        (before, now) = (as_json(old), as_json(new));
    }
    let (before, now) = (before.trim_end(), now.trim_end());
    if !before.contains('\n') && !now.contains('\n') {
        let (old, new) = diff_window(before, now);
        return (String::new(), old, new);
    }
    let same = before.lines().zip(now.lines()).take_while(|(a, b)| a == b).count();
    let (a, b) = (before.lines().nth(same), now.lines().nth(same));
    let (old, new) = match (a, b) {
        // The lines differ in white space.
        (Some(a), Some(b)) if a.trim() == b.trim() => (format!("{a:?}"), format!("{b:?}")),
        (Some(a), Some(b)) => diff_window(a.trim(), b.trim()),
        _ => {
            let line = |line: Option<&str>| shorten(line.map_or("(nothing)", str::trim), MAX_LENGTH);
            (line(a), line(b))
        }
    };
    (format!(" from its line {} on", same + 1), old, new)
}

/// Formats a value as JSON, in which a text differs from a number.
fn as_json(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| value.to_string())
}

/// Shortens two texts of one line to the part around the first difference.
fn diff_window(old: &str, new: &str) -> (String, String) {
    let is_short = |text: &str| text.chars().count() <= MAX_LENGTH;
    let same = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).count();
    if (is_short(old) && is_short(new)) || same <= 2 * CONTEXT {
        return (shorten(old, MAX_LENGTH), shorten(new, MAX_LENGTH));
    }
    let from = |text: &str| -> String { text.chars().skip(same - CONTEXT).collect() };
    (format!("…{}", shorten(&from(old), MAX_LENGTH)), format!("…{}", shorten(&from(new), MAX_LENGTH)))
}

/// Returns the text of a value: files and secrets by digest.
fn full_text(value: &Value) -> String {
    source_key::readable(value).unwrap_or_else(|| if is_misread(value) { as_json(value) } else { value.to_string() })
}

/// Returns true if it is a text that, without quotes, looks like a list, a map or nothing.
fn is_misread(value: &Value) -> bool {
    let Value::Text(text) = value else { return false };
    let text = text.trim_end_matches('\n');
    let is_like = |open, close| text.starts_with(open) && text.ends_with(close);
    !text.contains('\n') && (text.is_empty() || text.trim() != text || is_like('[', ']') || is_like('{', '}'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn described(old: &str, new: &str) -> String {
        let (place, old, new) = change(&Value::Text(old.into()), &Value::Text(new.into()));
        format!("changed{place}: {old} -> {new}")
    }

    #[test]
    fn where_long_texts_differ_is_seen() {
        assert_eq!(described("a", "b"), "changed: a -> b");
        assert_eq!(described("a\n", "b\n"), "changed: a -> b");
        let (_, old, new) = change(&Value::Int(5), &Value::Text("5".into()));
        assert_eq!((&*old, &*new), ("5", "\"5\""));
        let list = Value::List(vec![Value::Int(1), Value::Int(2)]);
        assert_eq!(change(&list, &Value::Text("[1, 2]".into())).2, "\"[1, 2]\"");
        assert_eq!(readable(&Value::Text("[1,2]".into())), "\"[1,2]\"");
        assert_eq!(described("[1,2]", "[1,3]"), "changed: \"[1,2]\" -> \"[1,3]\"");
        assert_eq!(described("a", "a "), "changed: \"a\" -> \"a \"");
        assert_eq!(described("", "b"), "changed: \"\" -> \"b\"");
        assert_eq!(
            described(&"x".repeat(100), &format!("{} ", "x".repeat(100))),
            format!("changed: …{}\" -> …{} \"", "x".repeat(20), "x".repeat(20))
        );
        let same = "x".repeat(100);
        let seen = format!("…{}", &same[..20]);
        assert_eq!(described(&format!("{same}1"), &format!("{same}2")), format!("changed: {seen}1 -> {seen}2"));
        let script = |end: &str| format!("# {same}\nset -e\n  {end}\n");
        let one = described(&script("echo the end"), &script("echo THE END"));
        assert_eq!(one, "changed from its line 3 on: echo the end -> echo THE END");
        assert_eq!(described("a\nc\n", "a\nb\nc\n"), "changed from its line 2 on: c -> b");
        assert_eq!(described("a\nb\nc\nd\n", "a\nd\n"), "changed from its line 2 on: b -> d");
        assert_eq!(described("a\nb\nc\n", "x\n"), "changed from its line 1 on: a -> x");
        assert_eq!(described("a\nb\n", "a\nb"), "changed: \"a\\nb\\n\" -> \"a\\nb\"");
        assert_eq!(described("a\nb\n", "a"), "changed from its line 2 on: b -> (nothing)");
        assert_eq!(described("a\n b\n", "a\n  b\n"), "changed from its line 2 on: \" b\" -> \"  b\"");
    }

    proptest! {
        #[test]
        fn any_two_texts_are_distinguished_in_one_short_line(old in "[ab\n]{0,12}", new in "[ab\n]{0,12}") {
            prop_assume!(old != new);
            let described = described(&old, &new);
            prop_assert!(!described.contains('\n') && described.len() < 300, "{described:?}");
        }

        #[test]
        fn long_lines_are_not_shown_as_the_same(same in "[a-z]{0,200}", one in "[0-4]{1,90}", other in "[5-9]{1,90}") {
            let (_, old, new) = change(&Value::Text(format!("{same}{one}")), &Value::Text(format!("{same}{other}")));
            prop_assert_ne!(old, new);
        }
    }
}
