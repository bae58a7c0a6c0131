//! The part of a text that can claim something.

use std::borrow::Cow;

use cwm_questions::is_space;

use crate::reading::before_last_answer;

/// The text before the last answer tag. Lines that draw a board are blank, so that all bytes keep their places.
pub(super) fn thinking(text: &str) -> Cow<'_, str> {
    let text = before_last_answer(text);
    if !text.contains('|') {
        return Cow::Borrowed(text);
    }
    let mut blanked = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match draws_a_board(line) {
            true => blanked.extend(line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' })),
            false => blanked.push_str(line),
        }
    }
    Cow::Owned(blanked)
}

/// `^\s*[1-8]\s*\|`
fn draws_a_board(line: &str) -> bool {
    let line = line.trim_start_matches(is_space);
    line.strip_prefix(|rank| ('1'..='8').contains(&rank))
        .is_some_and(|after| after.trim_start_matches(is_space).starts_with('|'))
}
