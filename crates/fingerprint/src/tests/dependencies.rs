//! Manifests and the lock file.

use crate::lock::compatible;

use super::house::{House, changed_by, changes};

const NOTHING: [&str; 0] = [];
const MODELS: [&str; 2] = ["train", "train: cwm-models"];
const BINS: [&str; 2] = ["bins", "bins: cwm-bins"];

#[test]
fn compatible_versions_share_a_name() {
    let cases = [("1.4.2", "1"), ("59.3.2", "59"), ("0.9.3", "0.9"), ("0.0.5", "0.0.5"), ("10.0.1", "10")];
    for (version, expected) in cases {
        assert_eq!(compatible(version), expected);
    }
    assert_eq!(compatible("1.2.1+spec-1.1.0"), "1");
    assert_eq!(compatible("1.0.0-rc.2"), "1.0.0-rc.2");
}

#[test]
fn an_update_to_a_compatible_version_changes_nothing() {
    assert_eq!(changed_by(|house| house.edit("Cargo.lock", "\"1.4.2\"", "\"1.9.0\"")), NOTHING);
    let half = |house: &House| {
        let lock = house.read("Cargo.lock");
        house.write("Cargo.lock", &lock.replace("0.9.3", "0.9.7"));
    };
    assert_eq!(changed_by(half), NOTHING);
}

#[test]
fn an_update_to_another_version_changes_who_uses_it() {
    assert_eq!(changed_by(|house| house.edit("Cargo.lock", "\"1.4.2\"", "\"2.0.0\"")), BINS);
    let half = |house: &House| {
        let lock = house.read("Cargo.lock");
        house.write("Cargo.lock", &lock.replace("0.9.3", "0.10.0"));
    };
    assert_eq!(changed_by(half), MODELS);
    // Used by no hashed crate directly.
    assert_eq!(changed_by(|house| house.edit("Cargo.lock", "\"2.4.0\"", "\"3.0.0\"")), NOTHING);
}

#[test]
fn a_pinned_version_counts_to_the_last_digit() {
    let found = changed_by(|house| {
        house.edit("Cargo.toml", "=0.22.1", "=0.22.2");
        house.edit("Cargo.lock", "0.22.1", "0.22.2");
    });
    assert_eq!(found, MODELS);
}

#[test]
fn a_renamed_and_inherited_build_dependency_counts() {
    let found = changed_by(|house| house.edit("Cargo.lock", "\"0.0.5\"", "\"0.0.6\""));
    assert_eq!(found, ["split", "split: cwm-chess"]);
}

#[test]
fn a_commit_of_a_git_dependency_counts() {
    let house = House::new();
    house.edit(
        "Cargo.lock",
        "version = \"1.4.2\"\nsource = \"registry+somewhere\"",
        "version = \"1.4.2\"\nsource = \"git+x#a\"",
    );
    let before = house.fingerprints();
    house.edit("Cargo.lock", "git+x#a", "git+x#b");
    assert_eq!(changes(&before, &house.fingerprints()), BINS);
}

#[test]
fn features_of_a_dependency_count() {
    assert_eq!(changed_by(|house| house.edit("crates/models/Cargo.toml", "\"rayon\"", "\"simd\"")), MODELS);
    assert_eq!(changed_by(|house| house.edit("Cargo.toml", "[\"std\"]", "[\"std\", \"flex\"]")), MODELS);
    assert_eq!(changed_by(|house| house.edit("Cargo.toml", "default-features = false, ", "")), MODELS);
}

#[test]
fn a_new_dependency_counts_and_one_for_development_does_not() {
    let lib = "stages/bins/Cargo.toml";
    assert_eq!(changed_by(|house| house.edit(lib, "serde = ", "half = \"0.9\"\nserde = ")), BINS);
    let text = "[dev-dependencies]\nhalf = \"0.9\"\n[dependencies]";
    assert_eq!(changed_by(|house| house.edit(lib, "[dependencies]", text)), NOTHING);
    let text = "[target.'cfg(unix)'.dependencies]\nhalf = \"0.9\"\n[dependencies]";
    assert_eq!(changed_by(|house| house.edit(lib, "[dependencies]", text)), BINS);
}

#[test]
fn another_dependency_of_the_same_version_counts() {
    let found = changed_by(|house| {
        house.edit("stages/bins/Cargo.toml", "serde = ", "serde_more = ");
        let lock = house.read("Cargo.lock");
        house.write("Cargo.lock", &lock.replace("serde", "serde_more"));
    });
    assert_eq!(found, BINS);
    let build = |house: &House| house.edit("stages/bins/Cargo.toml", "serde = ", "[build-dependencies]\nserde = ");
    assert_eq!(changed_by(build), BINS);
}

#[test]
fn what_a_manifest_says_besides_changes_nothing() {
    let lib = "stages/split/Cargo.toml";
    assert_eq!(changed_by(|house| house.edit(lib, "[package]", "# why\n[package]\nversion = \"0.2.0\"")), NOTHING);
    assert_eq!(changed_by(|house| house.edit(lib, "tempfile = \"3\"", "")), NOTHING);
}

#[test]
fn the_edition_counts() {
    let found = changed_by(|house| house.edit("Cargo.toml", "edition = \"2024\"", "edition = \"2021\""));
    assert!(["bins", "split", "train"].iter().all(|stage| found.iter().any(|changed| changed == stage)), "{found:?}");
}

#[test]
fn only_features_declared_result_changing_count() {
    let house = House::new();
    let before = house.fingerprints();
    assert_eq!(changes(&before, &house.fingerprints_with(&["default", "split", "gpu"])), NOTHING);
    assert_eq!(changes(&before, &house.fingerprints_with(&["exact"])), ["train", "train: cwm-train"]);
    house.edit("Cargo.toml", "path = \"stages/train\"", "path = \"stages/train\", features = [\"exact\"]");
    assert_eq!(changes(&before, &house.fingerprints()), ["train", "train: cwm-train"]);
}

#[test]
fn default_features_and_those_that_others_imply_are_on() {
    let house = House::new();
    let before = house.fingerprints();
    house.edit("stages/train/Cargo.toml", "exact = []", "exact = []\ndefault = [\"careful\"]\ncareful = [\"exact\"]");
    assert_eq!(changes(&before, &house.fingerprints()), ["train", "train: cwm-train"]);
    house.edit("Cargo.toml", "path = \"stages/train\"", "path = \"stages/train\", default-features = false");
    assert_eq!(changes(&before, &house.fingerprints()), NOTHING);
}

#[test]
fn a_stage_that_is_left_out_of_the_build_keeps_its_fingerprint() {
    let house = House::new();
    assert_eq!(changes(&house.fingerprints(), &house.fingerprints_with(&[])), NOTHING);
}

#[test]
fn an_edit_of_a_patched_package_counts_however_deep_it_is_used() {
    let house = House::new();
    house.edit("Cargo.lock", "version = \"0.9.3\"\nsource = \"registry+somewhere\"", "version = \"0.9.3\"");
    let root = house.read("Cargo.toml");
    house.write("Cargo.toml", &format!("{root}\n[patch.crates-io]\nhalf = {{ path = \"third_party/half\" }}\n"));
    house.edit("crates/models/Cargo.toml", "half.workspace = true\n", "");
    house.write("third_party/half/src/lib.rs", "pub fn half() -> u8 { 1 }\n");
    let before = house.fingerprints();
    assert!(before.watched_paths.contains("third_party/half"));
    house.edit("third_party/half/src/lib.rs", "1", "2");
    assert_eq!(changes(&before, &house.fingerprints()), ["train", "train: half"]);
}

#[test]
fn what_is_wrong_with_a_manifest_is_reported_with_its_path() {
    let error = |edit: &dyn Fn(&House)| {
        let house = House::new();
        edit(&house);
        crate::fingerprints(&house.path(""), &Default::default()).expect_err("wrong").to_string()
    };
    let manifest = "stages/split/Cargo.toml";
    let unknown = error(&|house| house.edit(manifest, "cwm-chess.workspace", "cwm-ches.workspace"));
    assert!(unknown.contains("stages/split/Cargo.toml") && unknown.contains("cwm-ches"), "{unknown}");
    let broken = error(&|house| house.write("Cargo.lock", "version = "));
    assert!(broken.contains("Cargo.lock"), "{broken}");
    let gone = error(&|house| std::fs::remove_file(house.path("Cargo.lock")).expect("removed"));
    assert!(gone.contains("Cargo.lock"), "{gone}");
    let typo = error(&|house| house.edit("crates/models/Cargo.toml", "parts =", "part ="));
    assert!(typo.contains("package.metadata.cwm.part"), "{typo}");
    let feature = error(&|house| house.edit("stages/train/Cargo.toml", "[\"exact\"]", "[\"exakt\"]"));
    assert!(feature.contains("exakt"), "{feature}");
}
