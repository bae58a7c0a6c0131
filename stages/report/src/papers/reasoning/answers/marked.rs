//! A text in parts, some of which are claims.

use std::ops::Range;

use cwm_reasoning::Claims;

use crate::papers::shown_answers::{LONGEST, lines};

/// A part of a text, safe to show.
pub(super) struct Part {
    pub(super) text: String,
    /// True if its claim is true, false if it is false; `None` if it claims nothing.
    pub(super) claim: Option<bool>,
}

/// Splits the end of the text into parts, and returns the number of characters left out before it. A claim that is cut
/// is no part of its own.
pub(super) fn marked(text: &str, claims: &Claims) -> (Vec<Part>, usize) {
    let moves = claims.moves.iter().map(|claim| (claim.bytes.clone(), claim.is_true));
    let pieces = claims.pieces.iter().map(|claim| (claim.bytes.clone(), claim.is_true));
    let mut claims: Vec<(Range<usize>, bool)> = moves.chain(pieces).collect();
    claims.sort_by_key(|(bytes, _)| bytes.start);
    let cut = text.chars().count().saturating_sub(LONGEST);
    let mut at = text.char_indices().nth(cut).map_or(text.len(), |(at, _)| at);
    let mut parts = Vec::new();
    let mut push = |bytes: Range<usize>, claim| {
        if let Some(part) = text.get(bytes).filter(|part| !part.is_empty()) {
            parts.push(Part { text: shown(part), claim });
        }
    };
    for (bytes, is_true) in claims {
        if bytes.start >= at {
            push(at..bytes.start, None);
            at = bytes.end;
            push(bytes, Some(is_true));
        }
    }
    push(at..text.len(), None);
    (parts, cut)
}

/// The part, safe to show, with the line end at its end.
fn shown(part: &str) -> String {
    lines(part) + if part.ends_with('\n') { "\n" } else { "" }
}

#[cfg(test)]
mod tests {
    use cwm_questions::truth::chess_of_fen;
    use cwm_reasoning::{ClaimRule, claims};

    use super::*;

    fn parts(text: &str) -> (Vec<(String, Option<bool>)>, usize) {
        let (position, _) = chess_of_fen("6k1/5ppp/8/8/8/8/8/RR4K1 w - - 0 1").unwrap();
        let (parts, cut) = marked(text, &claims(&position, text, ClaimRule::Position));
        (parts.into_iter().map(|part| (part.text, part.claim)).collect(), cut)
    }

    #[test]
    fn claims_are_parts_and_all_parts_are_the_text() {
        let text = "<think>\nThe white rook on a1 goes a1a8, not a1h8; my queen on a1 is gone.\n</think>\n<answer> a1a8 </answer>";
        let (found, cut) = parts(text);
        assert_eq!(found.iter().map(|(text, _)| text.as_str()).collect::<String>(), text);
        let claims: Vec<_> = found.iter().filter_map(|(text, claim)| Some((text.as_str(), (*claim)?))).collect();
        let expected = [("white rook on a1", true), ("a1a8", true), ("a1h8", false), ("my queen on a1", false)];
        assert_eq!((claims, cut), (expected.to_vec(), 0));
    }

    #[test]
    fn a_long_text_loses_its_beginning() {
        let long = format!("a1a8 {}é a1a8 a1h8", "x".repeat(LONGEST));
        let (found, cut) = parts(&long);
        assert_eq!(cut, 16);
        let claims: Vec<_> = found.iter().filter_map(|(_, claim)| *claim).collect();
        assert_eq!((claims, found[0].0.starts_with('x')), (vec![true, false], true));
        assert_eq!(found.iter().map(|(text, _)| text.chars().count()).sum::<usize>(), LONGEST);
    }
}
