//! Descriptions of the outcomes of a sweep: choices, their candidates, and models compared with a baseline.

use std::io::Read;
use std::path::Path;

use cwm_contract::{Description, Failure};
use serde_json::{Map, Value, json};

use crate::format::{escape_controls, line, with_separators};
use crate::json::read_object;
use crate::models::{display, entries};

/// No file of lines that is described here is larger: 16 MiB.
const LARGEST: u64 = 16 << 20;

/// Lines shown; the rest is counted.
const SHOWN: usize = 10;

/// Describes a file of format `choice`.
pub fn choice(path: &Path) -> Result<Description, Failure> {
    let choice = read_object(path, "choice")?;
    let text = |name: &str| choice.get(name).map(display).unwrap_or_default();
    let mut lines = vec![line("choice for", format!("{} {}", text("family"), text("size")))];
    if let Some(Value::Object(parameters)) = choice.get("parameters") {
        lines.push(line("parameters", entries(parameters)));
    }
    Ok(Description { lines, facts: Value::Object(choice) })
}

/// Describes a file of format `candidates`: a line each, best first.
pub fn candidates(path: &Path) -> Result<Description, Failure> {
    let candidates = read_lines(path, "candidates")?;
    let row = |one: &Map<String, Value>| {
        let rank = one.get("rank").and_then(Value::as_u64).map_or_else(|| "excluded".to_owned(), with_separators);
        let empty = Map::new();
        let parameters = one.get("parameters").and_then(Value::as_object).unwrap_or(&empty);
        let why = one.get("why").and_then(Value::as_str).map(|why| format!(" ({})", escape_controls(why, 80)));
        let loss = one.get("loss").filter(|loss| !loss.is_null()).map_or_else(|| "none".to_owned(), display);
        line(&rank, format!("loss {loss}, {}{}", entries(parameters), why.unwrap_or_default()))
    };
    Ok(table(&candidates, row))
}

/// Describes a file of format `differences`: a line each.
pub fn differences(path: &Path) -> Result<Description, Failure> {
    let compared = read_lines(path, "differences")?;
    let row = |one: &Map<String, Value>| {
        let field = |name: &str| one.get(name).map(display).unwrap_or_default();
        let model = format!("{} {} on {}", field("family"), field("size"), field("test"));
        let (difference, low, high) = (field("difference"), field("low"), field("high"));
        line(&model, format!("{difference} [{low}, {high}] to {}", field("baseline")))
    };
    Ok(table(&compared, row))
}

fn table(all: &[Map<String, Value>], row: impl Fn(&Map<String, Value>) -> String) -> Description {
    let mut lines: Vec<String> = all.iter().take(SHOWN).map(row).collect();
    if let Some(more) = all.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        lines.push(line("", format!("and {} more", with_separators(more as u64))));
    }
    Description { lines, facts: json!(all) }
}

/// The objects of a file of lines.
fn read_lines(path: &Path, format: &str) -> Result<Vec<Map<String, Value>>, Failure> {
    let wrong = |what: String| Failure::input(format!("{} is not a {format} file: {what}", path.display()));
    let file = std::fs::File::open(path).map_err(|error| Failure::io("open", path, error))?;
    let mut text = String::new();
    let read = file.take(LARGEST + 1).read_to_string(&mut text);
    read.map_err(|error| Failure::io("read", path, error))?;
    if text.len() as u64 > LARGEST {
        return Err(wrong(format!("it is longer than {} MiB", LARGEST >> 20)));
    }
    let lines = text.lines().enumerate();
    lines
        .map(|(at, text)| serde_json::from_str(text).map_err(|error| wrong(format!("line {}: {error}", at + 1))))
        .collect()
}
