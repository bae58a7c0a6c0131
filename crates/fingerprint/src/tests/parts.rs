//! Crates with separately hashed parts.

use super::house::{House, changed_by, changes};

const REGISTRY: &str = "crates/models/src/families/mod.rs";
const SHARED: [&str; 2] = ["train", "train: cwm-models"];

#[test]
fn an_edit_of_a_part_changes_that_part_alone() {
    let folder = changed_by(|house| house.edit("crates/models/src/families/slice/scan.rs", "0.0", "1.0"));
    assert_eq!(folder, ["train/slice"]);
    let file = changed_by(|house| house.edit("crates/models/src/families/transformer.rs", "const", "static"));
    assert_eq!(file, ["train/transformer"]);
}

#[test]
fn an_edit_of_what_the_parts_share_changes_the_base_alone() {
    assert_eq!(changed_by(|house| house.edit("crates/models/src/loss.rs", "0.5", "0.25")), SHARED);
    assert_eq!(changed_by(|house| house.edit(REGISTRY, "struct Family;", "struct Family(u8);")), SHARED);
}

#[test]
fn a_new_part_changes_nothing_else() {
    let found = changed_by(|house| {
        house.edit(REGISTRY, "mod transformer;", "mod mamba3;\nmod transformer;");
        house.edit(REGISTRY, "&slice::FAMILY,", "&slice::FAMILY, mamba3::family(),");
        house.write(
            "crates/models/src/families/mamba3.rs",
            "pub fn family() -> &'static super::Family { &super::Family }\n",
        );
    });
    assert_eq!(found, ["train/mamba3"]);
}

#[test]
fn how_a_part_is_registered_counts_for_that_part() {
    assert_eq!(changed_by(|house| house.edit(REGISTRY, "pub mod slice", "mod slice")), ["train/slice"]);
    assert_eq!(changed_by(|house| house.edit(REGISTRY, "&slice::FAMILY", "&slice::OTHER")), ["train/slice"]);
    let by_another_path = |house: &House| house.edit(REGISTRY, "&slice::FAMILY", "&slice::FAMILY, &self::slice::MORE");
    assert_eq!(changed_by(by_another_path), ["train/slice"]);
}

#[test]
fn a_part_named_elsewhere_in_the_registry_counts_for_all() {
    let found = changed_by(|house| {
        let registry = house.read(REGISTRY);
        house.write(REGISTRY, &format!("{registry}pub fn first() -> &'static Family {{ &slice::FAMILY }}\n"));
    });
    assert_eq!(found, SHARED);
}

#[test]
fn the_registry_may_stand_beside_the_folder() {
    let house = House::new();
    std::fs::rename(house.path(REGISTRY), house.path("crates/models/src/families.rs")).expect("moved");
    let before = house.fingerprints();
    house.edit("crates/models/src/families.rs", "&transformer::FAMILY", "&transformer::OTHER");
    assert_eq!(changes(&before, &house.fingerprints()), ["train/transformer"]);
}

#[test]
fn tests_of_the_registry_are_no_part() {
    let found = changed_by(|house| {
        house.edit(REGISTRY, "mod transformer;", "mod transformer;\n#[cfg(test)]\nmod tests;");
        house.write("crates/models/src/families/tests.rs", "fn check() {}\n");
    });
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn stages_that_do_not_use_the_crate_have_no_parts() {
    let found = House::new().fingerprints();
    assert_eq!(found.stages["train"].parts.keys().collect::<Vec<_>>(), ["slice", "transformer"]);
    assert!(found.stages["split"].parts.is_empty() && found.stages["bins"].parts.is_empty());
}

#[test]
fn parts_that_are_not_there_are_an_error() {
    let house = House::new();
    house.edit("crates/models/Cargo.toml", "src/families", "src/famlies");
    let error = crate::fingerprints(&house.path(""), &Default::default()).expect_err("no such folder");
    assert!(error.to_string().contains("famlies"), "{error}");
}
