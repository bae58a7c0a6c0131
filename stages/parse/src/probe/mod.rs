//! The probe: an awkward file, and games of just enough plies and of one too few.

use std::fmt::Write as _;
use std::path::PathBuf;

use cwm_contract::{Failure, Label, ProbeContext, ProbeInput, ProbeOutput, Value};

use crate::Parse;

/// Awkward games, each with its oddity in the Event tag.
const AWKWARD: &str = include_str!("awkward.pgn");

/// One game of 150 plies, nothing but moves.
const LONG: &str = include_str!("long.txt");

/// Bytes that are no UTF-8, where the awkward file says so.
const NOT_UTF8: (&str, u8) = ("{not utf-8}", 0xe9);

/// Runs `parse` on made-up files.
pub fn probe(context: &ProbeContext) -> Result<ProbeOutput, Failure> {
    let write = |name: &str, bytes: &[u8]| -> Result<ProbeInput, Failure> {
        let path: PathBuf = context.folder().join(name);
        fs_err::write(&path, bytes)?;
        Ok(("pgn", Label::stage("games"), path))
    };
    let mut awkward = Vec::new();
    for (number, piece) in AWKWARD.split(NOT_UTF8.0).enumerate() {
        if number > 0 {
            awkward.push(NOT_UTF8.1);
        }
        awkward.extend_from_slice(piece.as_bytes());
    }
    let files = [write("awkward.pgn", &awkward)?, write("edges.pgn", edges(context).as_bytes())?];
    let values = context.values_with([
        ("limit", Value::Null),
        ("on_error", Value::Text("drop".into())),
        ("shard_games", context.at_most("shard_games", 3)),
    ]);
    let mut probed = context.run(&Parse, "run", &values, &files)?;
    let few = context.values_with([("limit", context.at_most("limit", 3))]);
    probed.extend(context.run(&Parse, "own", &few, &files)?);
    Ok(probed)
}

/// Games about as long as a game must be.
fn edges(context: &ProbeContext) -> String {
    let words: Vec<&str> = LONG.split_whitespace().collect();
    let least = match context.values().get("min_fullmoves") {
        Some(Value::Int(fullmoves)) => usize::try_from(*fullmoves).unwrap_or(words.len()).saturating_mul(2),
        _ => 0,
    };
    let mut text = String::new();
    for plies in [0, least.saturating_sub(1), least, least.saturating_add(1), words.len()] {
        let moves = words.iter().take(plies).copied().collect::<Vec<_>>().join(" ");
        // Writing to a String cannot fail.
        let _ = writeln!(text, "[Site \"https://example.org/{plies}\"]\n\n{moves} 1/2-1/2\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use cwm_contract::{Values, testing};

    use super::*;

    fn probe(given: &[(&str, Value)]) -> ProbeOutput {
        let folder = tempfile::tempdir().unwrap();
        let values: Values = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        testing::probe(&Parse, values, folder.path()).unwrap().unwrap()
    }

    #[test]
    fn most_reasons_are_met_and_the_same_comes_twice() {
        let probed = probe(&[]);
        assert!(probe(&[]) == probed);
        let counts: serde_json::Value = serde_json::from_slice(&probed["run/counts"]).unwrap();
        let dropped: Vec<_> = counts["dropped"].as_object().unwrap().iter().filter(|(_, count)| **count != 0).collect();
        assert!(dropped.len() >= 9, "{counts}");
        // Of the file of edges, the games of just enough plies, of one more, and the long one.
        assert!(String::from_utf8_lossy(&probed["run/counts"]).contains("\"kept\""), "{counts}");
    }

    #[test]
    fn each_parameter_has_its_say() {
        let text = |text: &str| Value::Text(text.to_owned());
        let usual = probe(&[]);
        for (name, value) in [
            ("rules", text("authors")),
            ("ids", text("site")),
            ("min_fullmoves", Value::Int(11)),
            ("limit", Value::Int(7)),
            ("on_error", text("fail")),
            ("shard_games", Value::Int(2)),
        ] {
            assert!(probe(&[(name, value)]) != usual, "{name}");
        }
    }
}
