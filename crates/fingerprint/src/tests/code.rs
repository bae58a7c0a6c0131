//! Edits of source files.

use super::house::{House, SPLIT, SPLIT_ALONE, changed_by, changes, read};

const NOTHING: [&str; 0] = [];
const LIB: &str = "stages/split/src/lib.rs";

/// Returns the fingerprints that change when `to` replaces `from` in the stage `split`.
fn edit(from: &str, to: &str) -> Vec<String> {
    changed_by(|house| house.edit(LIB, from, to))
}

#[test]
fn every_stage_rests_on_its_own_crate_and_those_below_but_the_contract() {
    let found = House::new().fingerprints();
    let crates = |stage: &str| found.stages[stage].crates.keys().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(found.stages.keys().collect::<Vec<_>>(), ["bins", "split", "train"]);
    assert_eq!(crates("bins"), ["cwm-bins"]);
    assert_eq!(crates("split"), ["cwm-chess", "cwm-encoding", "cwm-split"]);
    assert_eq!(crates("train"), ["cwm-encoding", "cwm-models", "cwm-train"]);
    assert!(found.watched_paths.contains("crates/chess") && found.watched_paths.contains("Cargo.lock"));
    assert!(!found.watched_paths.contains("crates/contract"));
}

#[test]
fn a_comment_changes_nothing() {
    assert_eq!(edit("match bucket", "// why\n/* and /* how */ */ match bucket"), NOTHING);
}

#[test]
fn documentation_changes_nothing() {
    assert_eq!(edit("//! Splits games.", "//! Splits games in two.\n#![doc = \"And more.\"]"), NOTHING);
    assert_eq!(edit("/// What it does.", "/** What it\n does, and why. */"), NOTHING);
    assert_eq!(edit("    pub buckets", "    /// How many.\n    pub buckets"), NOTHING);
    assert_eq!(edit("    Validation,", "    /// The others.\n    #[doc(hidden)]\n    Validation,"), NOTHING);
    assert_eq!(edit("    pub fn side", "    #[doc = concat!(\"a\", \"b\")]\n    pub fn side"), NOTHING);
    assert_eq!(edit("pub fn show", "#[cfg_attr(docsrs, doc(cfg(any())), doc = \"x\")]\npub fn show"), NOTHING);
}

#[test]
fn documentation_inside_a_macro_changes_nothing() {
    let house = House::new();
    house.edit(LIB, "pub fn show", "parameters! { pub struct Config { width: u64 = 20 } }\npub fn show");
    let before = house.fingerprints();
    house.edit(LIB, "width: u64", "/// In plies.\n width: u64");
    assert_eq!(changes(&before, &house.fingerprints()), NOTHING);
    house.edit(LIB, "= 20", "= 21");
    assert_eq!(changes(&before, &house.fingerprints()), SPLIT_ALONE);
}

#[test]
fn a_unit_test_changes_nothing() {
    assert_eq!(edit("pub fn show", "#[cfg(test)]\nmod tests { #[test] fn it() {} }\npub fn show"), NOTHING);
    assert_eq!(edit("pub fn show", "#[cfg(all(test, unix))]\nuse std::fs;\npub fn show"), NOTHING);
    assert_eq!(edit("pub fn show", "#[test]\nfn it() {}\npub fn show"), NOTHING);
    assert_eq!(edit("    pub fn side", "    #[cfg(test)]\n    fn sample() {}\n    pub fn side"), NOTHING);
    assert_eq!(edit("    Validation,", "    Validation,\n    #[cfg(test)]\n    Neither,"), NOTHING);
    assert_eq!(edit("    pub buckets", "    #[cfg(test)]\n    pub seen: u64,\n    pub buckets"), NOTHING);
    assert_eq!(edit("        match", "        #[cfg(test)]\n        check();\n        match"), NOTHING);
    assert_eq!(
        edit("            0 =>", "            #[cfg(test)]\n            7 => panic!(),\n            0 =>"),
        NOTHING
    );
    assert_eq!(edit("pub struct Split", "#[cfg_attr(test, derive(PartialEq))]\npub struct Split"), NOTHING);
}

#[test]
fn what_is_also_there_without_tests_counts() {
    assert_eq!(edit("pub fn show", "#[cfg(not(test))]\nuse std::fs;\npub fn show"), SPLIT_ALONE);
    assert_eq!(edit("pub fn show", "#[cfg(any(test, unix))]\nuse std::fs;\npub fn show"), SPLIT_ALONE);
    assert_eq!(edit("pub struct Split", "#[cfg_attr(unix, doc = \"x\", derive(Copy))]\npub struct Split"), SPLIT_ALONE);
}

#[test]
fn a_file_that_only_tests_use_changes_nothing() {
    let module = |house: &House| {
        house.edit(LIB, "pub fn show", "#[cfg(test)]\nmod checks;\npub fn show");
        house.write("stages/split/src/checks.rs", "mod deep;\nfn check() {}\n");
        house.write("stages/split/src/checks/deep.rs", "fn deeper() {}\n");
    };
    assert_eq!(changed_by(module), NOTHING);
    let with_path = |house: &House| {
        house.edit(LIB, "pub fn show", "#[cfg(test)]\n#[path = \"odd/name.rs\"]\nmod checks;\npub fn show");
        house.write("stages/split/src/odd/name.rs", "fn check() {}\n");
    };
    assert_eq!(changed_by(with_path), NOTHING);
    let inside = |house: &House| {
        house.write(
            "crates/chess/src/replay.rs",
            "pub fn count() -> u32 {\n    1\n}\n#[cfg(test)]\nmod t {\n mod a;\n}\n",
        );
        house.write("crates/chess/src/replay/t/a.rs", "fn check() {}\n");
    };
    assert_eq!(changed_by(inside), NOTHING);
}

#[test]
fn a_file_that_tests_and_others_use_counts() {
    let house = House::new();
    house.edit(LIB, "pub fn show", "#[cfg(test)]\n#[path = \"shared.rs\"]\nmod checks;\nmod shared;\npub fn show");
    house.write("stages/split/src/shared.rs", "fn check() {}\n");
    let before = house.fingerprints();
    house.edit("stages/split/src/shared.rs", "{}", "{ run() }");
    assert_eq!(changes(&before, &house.fingerprints()), SPLIT_ALONE);
}

#[test]
fn a_file_that_no_module_line_leads_to_counts() {
    assert_eq!(changed_by(|house| house.write("stages/split/src/odd.rs", "fn f() {}\n")), SPLIT_ALONE);
}

#[test]
fn tests_benches_examples_prose_and_leftovers_change_nothing() {
    for path in [
        "tests/a.rs",
        "benches/a.rs",
        "examples/a.rs",
        "target/a.rs",
        "proptest-regressions/a.txt",
        "NOTES.md",
        "src/README.md",
        "src/snapshots/a.snap",
        "src/.lib.rs.swp",
        "src/lib.rs~",
    ] {
        assert_eq!(changed_by(|house| house.write(&format!("stages/split/{path}"), "x = 1\n")), NOTHING, "{path}");
    }
}

#[test]
fn indentation_and_line_ends_change_nothing() {
    let deeper = changed_by(|house| {
        let text = SPLIT.lines().map(|line| format!("\t\t{line}  \n\n")).collect::<String>();
        // Lines inside a string belong to its value, but for those after a backslash, which this house has.
        house.write(LIB, &text.replace("\\  \n\n", "\\\n"));
    });
    assert_eq!(deeper, NOTHING);
    assert_eq!(changed_by(|house| house.write(LIB, &SPLIT.replace('\n', "\r\n"))), NOTHING);
}

#[test]
fn the_same_in_another_folder_and_at_another_time_is_the_same() {
    let (here, there) = (House::new(), House::new());
    assert_ne!(here.path(""), there.path(""));
    let file = std::fs::File::options().append(true).open(there.path(LIB)).expect("opened");
    file.set_modified(std::time::UNIX_EPOCH).expect("set");
    assert_eq!(here.fingerprints(), there.fingerprints());
    assert_eq!(here.fingerprints().to_json(), there.fingerprints().to_json());
}

#[test]
fn a_real_edit_changes_its_stage() {
    assert_eq!(edit("1..=50", "1..=51"), SPLIT_ALONE);
    assert_eq!(edit("out of", "out  of"), SPLIT_ALONE);
    assert_eq!(edit("other == self.buckets", "other >= self.buckets"), SPLIT_ALONE);
    assert_eq!(edit("Clone, Debug)]", "Debug, Clone)]"), SPLIT_ALONE);
}

#[test]
fn an_edit_below_changes_every_stage_above() {
    let below = changed_by(|house| house.edit("crates/encoding/src/lib.rs", "20480", "20481"));
    assert_eq!(below, ["split", "split: cwm-encoding", "train", "train: cwm-encoding"]);
    let chess = changed_by(|house| house.edit("crates/chess/src/replay.rs", "1", "2"));
    assert_eq!(chess, ["split", "split: cwm-chess"]);
}

#[test]
fn an_edit_of_the_contract_changes_nothing() {
    assert_eq!(changed_by(|house| house.edit("crates/contract/src/lib.rs", "Stage", "Step")), NOTHING);
}

#[test]
fn queries_and_templates_count_byte_by_byte() {
    let bins = ["bins", "bins: cwm-bins"];
    assert_eq!(changed_by(|house| house.edit("stages/bins/src/bins.sql", "select 1", "select  1")), bins);
    assert_eq!(changed_by(|house| house.edit("stages/bins/templates/table.md", "loss", "exact")), bins);
    assert_eq!(changed_by(|house| house.write("stages/bins/src/more.sql", "")), bins);
}

#[test]
fn a_moved_file_counts() {
    let moved = changed_by(|house| {
        std::fs::rename(house.path("stages/bins/src/bins.sql"), house.path("stages/bins/src/bims.sql")).expect("moved");
    });
    assert_eq!(moved, ["bins", "bins: cwm-bins"]);
}

#[test]
fn rust_that_does_not_parse_is_hashed_as_bytes() {
    let house = House::new();
    house.edit(LIB, "pub fn show", "pub fn show(");
    let before = house.fingerprints();
    house.edit(LIB, "//! Splits", "//!  Splits");
    assert_eq!(changes(&before, &house.fingerprints()), SPLIT_ALONE);
}

#[test]
fn the_json_is_what_was_computed() {
    let found = House::new().fingerprints();
    let json: serde_json::Value = serde_json::from_str(&found.to_json()).expect("JSON");
    for (stage, fingerprint) in &found.stages {
        assert_eq!(json[stage]["base"], fingerprint.base.as_str());
        assert_eq!(json[stage]["crates"], serde_json::json!(fingerprint.crates));
        assert_eq!(json[stage]["parts"], serde_json::json!(fingerprint.parts));
    }
    assert_eq!(json.as_object().map(|stages| stages.len()), Some(3));
}

#[test]
fn this_workspace_has_fingerprints_too() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let found = read(std::path::Path::new(root), &["default"]);
    assert!(found.stages["train"].parts.contains_key("transformer"), "the families are parts of train");
    assert!(found.stages["split"].crates.contains_key("cwm-chess"));
}
