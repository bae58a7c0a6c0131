//! Counts, lists, paths and words of a shell.

use std::fmt::Display;
use std::path::Path;

/// Formats a number with its noun: `1 game`, `2 games`.
pub fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Returns a number with its first six digits, all that a table prints of it.
pub fn six_digits(value: f64) -> String {
    format!("{value:.5e}").parse().unwrap_or(value).to_string()
}

/// Returns the first `max` items, and how many more there are: `a, b and 3 more`.
pub fn list_some<T: Display>(items: impl IntoIterator<Item = T>, max: usize) -> String {
    join_some(items, ", ", max)
}

/// Does the same as [`list_some`] with another separator, for items that may contain commas.
pub fn join_some<T: Display>(items: impl IntoIterator<Item = T>, separator: &str, max: usize) -> String {
    let mut items = items.into_iter();
    let shown: Vec<String> = items.by_ref().take(max).map(|item| item.to_string()).collect();
    let shown = shown.join(separator);
    match items.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Returns the first `max` characters of a text, and `…` in place of the others.
pub fn shorten(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the path relative to the current folder where that is shorter, else as it is.
pub fn short_path(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let relative = here.as_deref().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path);
    if relative.as_os_str().is_empty() { ".".to_owned() } else { relative.display().to_string() }
}

/// Quotes a text as one word for a shell.
pub fn shell_quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_lists_read_well() {
        assert_eq!(plural(1, "game", "games"), "1 game");
        assert_eq!(plural(2, "game", "games"), "2 games");
        assert_eq!((&*shorten("äöü", 3), &*shorten("äöü", 2)), ("äöü", "äö…"));
        assert_eq!(list_some(["a", "b", "c"], 3), "a, b, c");
        assert_eq!(list_some(["a", "b", "c", "d"], 2), "a, b and 2 more");
        assert_eq!(list_some(Vec::<String>::new(), 2), "");
        assert_eq!(join_some(["a, b", "c", "d"], "; ", 2), "a, b; c and 1 more");
    }
}
