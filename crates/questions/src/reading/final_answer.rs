//! Finds the answer as a person does.

use crate::reading::extraction::{lower, without_word};
use crate::reading::markup::{is_markup, unwrap};
use crate::reading::white_space::{is_space, strip};

/// The mark that begins and ends a block of code.
const FENCE: &str = "```";

/// The text of the answer, still with what surrounds it; none if nothing stands there.
///
/// It is what follows the last `final answer:` after the reasoning: its first line with something in it, or the lines of a block
/// of code that begins there, with commas between them. Without such a heading it is what the last `\boxed{…}` holds.
pub fn final_answer(response: &str) -> Option<String> {
    let visible = response.rsplit_once("</think>").map_or(response, |(_, visible)| visible);
    match after_last_heading(visible) {
        Some(after) => first_line(after),
        None => last_box(visible),
    }
    .map(|text| unwrap(&text))
}

/// The text after the last heading: `final answer`, perhaps `is`, and a colon, with white space and stars between them.
fn after_last_heading(text: &str) -> Option<&str> {
    let (mut found, mut rest) = (None, text);
    while let Some((start, _)) = rest.char_indices().find(|(_, character)| lower(*character) == 'f') {
        rest = &rest[start..];
        match after_heading(rest) {
            Some(after) => (found, rest) = (Some(after), after),
            None => rest = &rest[1..],
        }
    }
    found
}

fn after_heading(text: &str) -> Option<&str> {
    let after = without_word(text, "final")?;
    let rest = after.trim_start_matches(is_space);
    if rest.len() == after.len() {
        return None;
    }
    let is_between = |character| is_space(character) || character == '*';
    let rest = without_word(rest, "answer")?.trim_start_matches(is_between);
    let rest = without_word(rest, "is").unwrap_or(rest).trim_start_matches(is_between);
    rest.strip_prefix([':', '：'])
}

fn first_line(text: &str) -> Option<String> {
    let mut lines = text.lines();
    // Backticks count as something here: they may begin a block.
    let line =
        lines.find(|line| !line.trim_matches(|character| character != '`' && is_markup(character)).is_empty())?;
    let block = strip(line).strip_prefix(FENCE).filter(|after| !after.contains(FENCE));
    if block.is_none() {
        return Some(line.to_owned());
    }
    let within = lines.take_while(|line| !strip(line).starts_with(FENCE)).filter(|line| !strip(line).is_empty());
    let within = within.collect::<Vec<_>>().join(", ");
    (!within.is_empty()).then_some(within)
}

/// The content of the last `\boxed{…}`.
fn last_box(text: &str) -> Option<String> {
    let (_, after) = text.rsplit_once("\\boxed{")?;
    let mut depth = 1_u32;
    let end = after.find(|character| {
        match character {
            '{' => depth = depth.saturating_add(1),
            '}' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    Some(after[..end?].to_owned())
}
