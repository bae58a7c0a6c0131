//! Describes counts files: whichever stage wrote them, since all are maps of maps of numbers.

use std::path::Path;

use cwm_contract::{Description, Failure};
use serde_json::{Map, Value};

use crate::format::{escape_controls, line, percent, with_separators};
use crate::json::read_object;

/// The map of reasons, of which those that occurred are listed.
const DROPPED: &str = "dropped";

/// The keys that are listed first, in this order; the others follow by name.
const FIRST: [&str; 5] = ["read", "kept", DROPPED, "plies", "buckets"];

/// Describes a file of format `counts`.
pub fn counts(path: &Path) -> Result<Description, Failure> {
    let object = read_object(path, "counts")?;
    let read = object.get("read").and_then(Value::as_u64);
    let rank = |name: &str| FIRST.iter().position(|first| *first == name).unwrap_or(FIRST.len());
    let mut entries: Vec<_> = object.iter().filter(|(name, _)| *name != "stage").collect();
    entries.sort_by_key(|(name, _)| rank(name));
    let mut lines = Vec::new();
    for (name, value) in entries {
        match value {
            Value::Object(reasons) if name == DROPPED => lines.extend(dropped(reasons, read)),
            Value::Object(inner) => {
                lines.push(escape_controls(name, 40));
                lines.extend(
                    inner.iter().map(|(name, value)| format!("  {}", line(&escape_controls(name, 40), display(value)))),
                );
            }
            plain => {
                let part = (name == "kept").then_some(read).flatten().zip(plain.as_u64());
                let part = part.map(|(read, kept)| format!(" ({})", percent(kept, read))).unwrap_or_default();
                lines.push(line(&escape_controls(name, 40), display(plain) + &part));
            }
        }
    }
    Ok(Description { lines, facts: Value::Object(object) })
}

/// Returns the number of games that were dropped for each reason, most first.
fn dropped(reasons: &Map<String, Value>, read: Option<u64>) -> Vec<String> {
    let games = |value: &Value| value.as_u64().unwrap_or(0);
    let total = reasons.values().map(games).sum();
    let part = |count: u64| read.map(|read| format!(" ({})", percent(count, read))).unwrap_or_default();
    let mut lines = vec![line(DROPPED, with_separators(total) + &part(total))];
    let mut occurring: Vec<_> = reasons.iter().filter(|(_, value)| games(value) > 0).collect();
    occurring.sort_by_key(|(name, value)| (std::cmp::Reverse(games(value)), *name));
    let line_of = |(name, value): (&String, &Value)| {
        format!("  {:<22}{}{}", escape_controls(name, 40), with_separators(games(value)), part(games(value)))
    };
    lines.extend(occurring.into_iter().map(line_of));
    lines
}

fn display(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let entry = |(name, value): (&String, &Value)| {
                format!("{} {}", display(value), escape_controls(name, 40).replace('_', " "))
            };
            // Which moves occur is for programs.
            map.iter().filter(|(name, _)| *name != "moves").map(entry).collect::<Vec<_>>().join(", ")
        }
        Value::Number(number) => number.as_u64().map_or_else(|| number.to_string(), with_separators),
        Value::String(text) => escape_controls(text, 80),
        other => escape_controls(&other.to_string(), 80),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(json: &str) -> Result<Vec<String>, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("counts.json");
        std::fs::write(&path, json).unwrap();
        counts(&path).map(|description| description.lines)
    }

    #[test]
    fn each_stage_s_counts_read_well() {
        let parse = r#"{"dropped":{"illegal_move":3,"no_site":0,"short":706},"kept":14098,"plies":950000,"read":14807,"stage":"parse"}"#;
        assert_eq!(
            lines(parse).unwrap(),
            [
                "read        14,807",
                "kept        14,098 (95.2 %)",
                "dropped     709 (4.8 %)",
                "  short                 706 (4.8 %)",
                "  illegal_move          3 (0.0 %)",
                "plies       950,000",
            ]
        );
        let split = r#"{"buckets":10,"stage":"split","train":{"games":9,"plies":90},"validation":{"games":1,"plies":1000},"validation_buckets":1}"#;
        assert_eq!(
            lines(split).unwrap(),
            [
                "buckets     10",
                "train",
                "  games       9",
                "  plies       90",
                "validation",
                "  games       1",
                "  plies       1,000",
                "validation_buckets 1",
            ]
        );
        let tokenize = r#"{"sets":{"train":{"games":2,"moves":"ff00","unique_moves":3}},"stage":"tokenize"}"#;
        assert_eq!(lines(tokenize).unwrap(), ["sets", "  train       2 games, 3 unique moves"]);
    }

    #[test]
    fn what_is_no_counts_file_is_reported() {
        assert!(lines("[1]").unwrap_err().message.ends_with("is not a counts file: it holds no JSON object"));
        assert!(
            lines("{").unwrap_err().message.contains("is not a counts file: EOF while parsing an object at line 1")
        );
    }
}
