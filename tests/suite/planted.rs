//! The list of changes that `tests/planted/run` plants fits the sources as they are.

use std::fs;
use std::path::Path;

use serde::Deserialize;

#[derive(Deserialize)]
struct Change {
    name: String,
    file: String,
    old: String,
    new: String,
    tells: Vec<String>,
}

#[test]
fn each_planted_change_has_its_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("tests/planted/changes.yaml")).expect("the list");
    let changes: Vec<Change> = serde_yaml::from_str(&text).expect("a list of changes");
    let mut misplaced = Vec::new();
    for Change { name, file, old, new, .. } in &changes {
        let source = fs::read_to_string(root.join(file)).unwrap_or_default();
        let count = source.matches(old.as_str()).count();
        if count != 1 || old == new {
            misplaced.push(format!("{name}: {count} times in {file}"));
        }
    }
    assert!(misplaced.is_empty(), "tests/planted/changes.yaml must follow the sources:\n{}", misplaced.join("\n"));
    let caught = changes.iter().filter(|change| !change.tells.is_empty()).count();
    assert!(caught >= 20 && changes.len() - caught >= 4, "{caught} of {}", changes.len());
}

/// An effect of the steps before a chunk shows only in a game that is longer than the chunk.
#[test]
fn the_longest_game_of_the_probes_is_longer_than_any_chunk() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut chunks = Vec::new();
    for folder in ["families", "ops"] {
        let mut folders = vec![root.join("crates/models/src").join(folder)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
                if entry.is_dir() {
                    folders.push(entry);
                } else {
                    chunks.extend(fs::read_to_string(entry).expect("a source").lines().filter_map(chunk));
                }
            }
        }
    }
    assert!(chunks.len() >= 4 && chunks.contains(&256), "SLiCE's chunks have 256 steps: {chunks:?}");
    let games = fs::read_to_string(root.join("crates/chess/src/sample/games.txt")).expect("games");
    let longest = games.lines().map(|game| game.split(' ').count()).max();
    assert!(longest > chunks.into_iter().max());
}

/// The number of steps of a chunk, if a line defines it.
fn chunk(line: &str) -> Option<usize> {
    let (_, declared) = line.split_once("const CHUNK")?;
    declared.split_once(": usize = ")?.1.strip_suffix(';')?.parse().ok()
}
