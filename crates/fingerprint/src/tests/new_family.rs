//! A real second family: the worked example of docs/new-family.md, added to the real sources as that page says.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::house::{changes, read};

const REGISTRY: &str = "crates/models/src/families/mod.rs";
const EXAMPLE: &str = "examples/new-family/elman.rs";

/// A copy of all that fingerprints read of this repository.
fn copy() -> TempDir {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in ["Cargo.toml", "Cargo.lock"] {
        fs::copy(root.join(name), folder.path().join(name)).expect("copied");
    }
    for entry in fs::read_dir(&root).expect("the repository") {
        let name = entry.expect("an entry").file_name();
        let is_source = !name.to_string_lossy().starts_with('.') && name != "target" && name != "artifacts";
        if is_source && root.join(&name).is_dir() {
            copy_folder(&root.join(&name), &folder.path().join(&name));
        }
    }
    folder
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_folder(&path, &copy);
        } else {
            fs::copy(&path, &copy).expect("copied");
        }
    }
}

#[test]
fn one_file_and_one_line_rerun_no_training_of_another_family() {
    let house = copy();
    let before = read(house.path(), &["default"]);
    let train = &before.stages["train"];
    for part in ["transformer", "slice", "gated_deltanet", "mamba2", "mamba3"] {
        assert!(train.parts.contains_key(part), "{part} is no part of {:?}", train.parts.keys());
    }
    assert!(!train.parts.contains_key("elman"), "what only tests build is no part");

    // What stood there for tests alone stands there for good: one file, its `mod` line, its line in the list.
    let registry = house.path().join(REGISTRY);
    let text = fs::read_to_string(&registry).expect("the registry");
    let module = "#[cfg(test)]\n#[path = \"../../../../examples/new-family/elman.rs\"]\nmod elman;";
    let entry = "#[cfg(test)]\n    elman::FAMILY,";
    assert!(text.contains(module) && text.contains(entry), "{text}");
    let text = text.replacen(module, "mod elman;", 1).replacen(entry, "elman::FAMILY,", 1);
    assert!(!text.contains("cfg(test)"), "{text}");
    fs::write(&registry, text).expect("written");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(EXAMPLE);
    fs::copy(example, house.path().join("crates/models/src/families/elman.rs")).expect("copied");
    let after = read(house.path(), &["default"]);

    // Nothing but the new part, in the stages that have models: no base, no crate, no other family.
    let users = before.stages.iter().filter(|(_, stage)| stage.parts.contains_key("transformer"));
    let expected: Vec<String> = users.map(|(stage, _)| format!("{stage}/elman")).collect();
    assert!(expected.contains(&"train/elman".to_owned()) && expected.contains(&"evaluate/elman".to_owned()));
    assert_eq!(changes(&before, &after), expected);
    for (stage, old) in &before.stages {
        let new = &after.stages[stage];
        assert_eq!(new.base, old.base, "{stage}");
        assert!(old.parts.iter().all(|(part, digest)| new.parts[part] == *digest), "{stage}");
    }
}

#[test]
fn an_edit_of_a_real_family_reruns_that_family_alone() {
    let house = copy();
    let before = read(house.path(), &["default"]);
    let file = house.path().join("crates/models/src/families/mamba2/mod.rs");
    let text = fs::read_to_string(&file).expect("a family");
    assert!(text.contains("unwrap_or(128)"), "{text}");
    fs::write(&file, text.replacen("unwrap_or(128)", "unwrap_or(64)", 1)).expect("written");
    let changed = changes(&before, &read(house.path(), &["default"]));
    assert!(changed.contains(&"train/mamba2".to_owned()), "{changed:?}");
    assert!(changed.iter().all(|change| change.ends_with("/mamba2")), "{changed:?}");
}
