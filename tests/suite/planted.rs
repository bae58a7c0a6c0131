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
