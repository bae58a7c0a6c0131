//! Answer tags.

use cwm_questions::strip;

const OPEN: &str = "<answer>";
const CLOSE: &str = "</answer>";

/// The last match of `<answer>(.*?)</answer>` (the dot any character), without white space at both ends. Each tag is looked at
/// once.
pub fn last_answer(text: &str) -> Option<&str> {
    let (mut found, mut rest) = (None, text);
    while let Some((_, after)) = rest.split_once(OPEN) {
        let Some((answer, next)) = after.split_once(CLOSE) else { break };
        (found, rest) = (Some(answer), next);
    }
    found.map(strip)
}

/// The text before the last opening tag; all of a text without one.
pub fn before_last_answer(text: &str) -> &str {
    text.rfind(OPEN).map_or(text, |start| &text[..start])
}
