//! The rules for names, and the name that was probably meant.

use std::fmt::Display;

use cwm_contract::is_hidden;

use crate::text::list_some;

/// The rule, for messages.
pub const NAME_RULE: &str = "a small letter, then small letters, digits and `_`";

/// Returns true if this can be the name of a stage, axis, variable, input or output.
pub fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Returns true if this can be the label of an axis value: an address such as `model[size=d32/l1]` can hold it.
pub fn is_label(text: &str) -> bool {
    !text.is_empty() && text.trim() == text && !text.contains(['[', ']', ',', '=']) && !text.contains(is_hidden)
}

/// Returns the candidate that was probably meant, if one is near enough.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let distance = strsim::osa_distance(&lower, &candidate.to_lowercase());
            let longest = word.chars().count().max(candidate.chars().count());
            (distance <= longest.max(3) / 3 && distance < longest).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns the hint after an unknown name: the one that was probably meant, else all names.
pub fn suggest<'a>(word: &str, what: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let candidates: Vec<_> = candidates.into_iter().collect();
    match nearest(word, candidates.iter().copied()) {
        Some(candidate) => Some(format!("did you mean `{candidate}`?")),
        None => list_names(&candidates).map(|list| format!("{what}: {list}")),
    }
}

/// Returns the names as text, the first twelve of them; `None` without any.
pub fn list_names(names: impl IntoIterator<Item = impl Display>) -> Option<String> {
    const MAX_LISTED: usize = 12;
    let mut names = names.into_iter().map(|name| format!("`{name}`")).peekable();
    names.peek().is_some().then(|| list_some(names, MAX_LISTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant() {
        let stages = ["split", "parse", "tokenize", "train"];
        assert_eq!(nearest("spilt", stages), Some("split"));
        assert_eq!(nearest("Tokenise", stages), Some("tokenize"));
        assert_eq!(nearest("x", stages), None);
        assert_eq!(suggest("x", "stages", ["a", "b"]).unwrap(), "stages: `a`, `b`");
        assert_eq!(suggest("report", "stages", stages).unwrap(), "stages: `split`, `parse`, `tokenize`, `train`");
        assert_eq!(suggest("report", "stages", []), None);
    }
}
