//! A workspace of three stages and five shared crates, to be edited.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::{Fingerprints, fingerprints};

const FILES: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        r#"
[workspace]
members = ["crates/*", "stages/*"]

[workspace.package]
edition = "2024"

[workspace.dependencies]
cwm-contract = { path = "crates/contract" }
cwm-chess = { path = "crates/chess" }
cwm-encoding = { path = "crates/encoding" }
cwm-models = { path = "crates/models" }
burn = { version = "=0.22.1", default-features = false, features = ["std"] }
serde = "1"
half = "0.9.1"
zstd = { version = "0.0.5", package = "zstd-renamed" }

[package]
name = "cwm"
edition.workspace = true

[dependencies]
cwm-contract.workspace = true
cwm-split = { path = "stages/split", optional = true }
cwm-train = { path = "stages/train" }

[features]
default = ["split"]
split = ["dep:cwm-split"]
exact = ["cwm-train/exact"]
gpu = ["cwm-train?/gpu"]
"#,
    ),
    (
        "Cargo.lock",
        r#"
version = 4

[[package]]
name = "burn"
version = "0.22.1"
source = "registry+somewhere"
dependencies = ["half 0.9.3"]

[[package]]
name = "half"
version = "0.9.3"
source = "registry+somewhere"

[[package]]
name = "half"
version = "2.4.0"
source = "registry+somewhere"

[[package]]
name = "serde"
version = "1.4.2"
source = "registry+somewhere"

[[package]]
name = "zstd-renamed"
version = "0.0.5"
source = "registry+somewhere"

[[package]]
name = "tempfile"
version = "3.0.0"
source = "registry+somewhere"

[[package]]
name = "cwm-chess"
version = "0.1.0"
dependencies = ["cwm-contract", "cwm-encoding", "zstd-renamed"]

[[package]]
name = "cwm-contract"
version = "0.1.0"
dependencies = ["serde"]

[[package]]
name = "cwm-encoding"
version = "0.1.0"

[[package]]
name = "cwm-models"
version = "0.1.0"
dependencies = ["burn", "half 0.9.3"]

[[package]]
name = "cwm-bins"
version = "0.1.0"
dependencies = ["cwm-contract", "serde"]

[[package]]
name = "cwm-split"
version = "0.1.0"
dependencies = ["cwm-chess", "cwm-contract", "tempfile"]

[[package]]
name = "cwm-train"
version = "0.1.0"
dependencies = ["cwm-contract", "cwm-encoding", "cwm-models"]
"#,
    ),
    ("crates/contract/Cargo.toml", "[package]\nname = \"cwm-contract\"\n[dependencies]\nserde.workspace = true\n"),
    ("crates/contract/src/lib.rs", "pub trait Stage {}\n"),
    ("crates/encoding/Cargo.toml", "[package]\nname = \"cwm-encoding\"\nedition.workspace = true\n"),
    ("crates/encoding/src/lib.rs", "pub const START: u16 = 20480;\n"),
    (
        "crates/chess/Cargo.toml",
        "[package]\nname = \"cwm-chess\"\nedition.workspace = true\n[dependencies]\ncwm-contract.workspace = true\n\
         cwm-encoding.workspace = true\n[build-dependencies]\nzstd.workspace = true\n",
    ),
    ("crates/chess/src/lib.rs", "mod replay;\npub fn games() -> u32 {\n    replay::count()\n}\n"),
    ("crates/chess/src/replay.rs", "pub fn count() -> u32 {\n    1\n}\n"),
    (
        "crates/models/Cargo.toml",
        "[package]\nname = \"cwm-models\"\nedition.workspace = true\n[package.metadata.cwm]\nparts = \"src/families\"\n\
         [dependencies]\nburn = { workspace = true, features = [\"rayon\"] }\nhalf.workspace = true\n",
    ),
    ("crates/models/src/lib.rs", "mod families;\nmod loss;\n"),
    ("crates/models/src/loss.rs", "pub fn loss() -> f32 {\n    0.5\n}\n"),
    (
        "crates/models/src/families/mod.rs",
        "//! The registry.\n\npub mod slice;\nmod transformer;\n\npub struct Family;\n\n\
         pub static FAMILIES: &[&Family] = &[&slice::FAMILY, &transformer::FAMILY];\n",
    ),
    ("crates/models/src/families/transformer.rs", "pub const FAMILY: super::Family = super::Family;\n"),
    ("crates/models/src/families/slice/mod.rs", "mod scan;\npub const FAMILY: super::Family = super::Family;\n"),
    ("crates/models/src/families/slice/scan.rs", "pub fn scan() -> f32 {\n    0.0\n}\n"),
    (
        "stages/bins/Cargo.toml",
        "[package]\nname = \"cwm-bins\"\nedition.workspace = true\n[dependencies]\ncwm-contract.workspace = true\nserde = \"1.2\"\n",
    ),
    ("stages/bins/src/lib.rs", "pub const QUERY: &str = include_str!(\"bins.sql\");\n"),
    ("stages/bins/src/bins.sql", "select 1\n"),
    ("stages/bins/templates/table.md", "| {{ loss }} |\n"),
    (
        "stages/split/Cargo.toml",
        "[package]\nname = \"cwm-split\"\nedition.workspace = true\n[dependencies]\ncwm-contract.workspace = true\n\
         cwm-chess.workspace = true\n[dev-dependencies]\ntempfile = \"3\"\n",
    ),
    ("stages/split/src/lib.rs", SPLIT),
    (
        "stages/train/Cargo.toml",
        "[package]\nname = \"cwm-train\"\nedition.workspace = true\n[package.metadata.cwm]\nresult-features = [\"exact\"]\n\
         [dependencies]\ncwm-contract.workspace = true\ncwm-encoding.workspace = true\ncwm-models.workspace = true\n\
         [features]\nexact = []\ngpu = []\n",
    ),
    ("stages/train/src/lib.rs", "pub fn train() {}\n"),
];

/// The stage that most tests edit.
pub(super) const SPLIT: &str = r#"//! Splits games.

use std::collections::BTreeMap;
use std::fmt::{Debug, Display};

/// Where a game goes.
#[derive(Clone, Debug)]
pub enum Side {
    Train,
    Validation,
}

/// What it does.
pub struct Split {
    pub buckets: u64,
}

impl Split {
    pub fn side(&self, bucket: u64, names: &BTreeMap<u64, String>) -> Result<Side, String> {
        let message = "bucket out of \
                       range";
        let name = names.get(&bucket).map(|name| name.len());
        match bucket {
            0 => Err(format!("{message}: {bucket}, {name:?}")),
            1..=50 => Ok(Side::Validation),
            other if other == self.buckets => Err(message.to_owned()),
            _ => Ok(Side::Train),
        }
    }
}

pub fn show(left: impl Debug, right: impl Display) -> (String, String) {
    (format!("{left:?}"), format!("{right}"))
}
"#;

/// The made-up workspace.
pub(super) struct House {
    folder: TempDir,
}

impl House {
    pub(super) fn new() -> Self {
        let house = House { folder: tempfile::tempdir().expect("a temporary folder") };
        for (path, text) in FILES {
            house.write(path, text);
        }
        house
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, text).expect("written");
    }

    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).expect("read")
    }

    /// Replaces `from`, which must be there, by `to`.
    pub(super) fn edit(&self, path: &str, from: &str, to: &str) {
        let text = self.read(path);
        assert!(text.contains(from), "{path} does not contain {from}");
        self.write(path, &text.replacen(from, to, 1));
    }

    pub(super) fn fingerprints(&self) -> Fingerprints {
        self.fingerprints_with(&["default", "split"])
    }

    pub(super) fn fingerprints_with(&self, features: &[&str]) -> Fingerprints {
        read(self.folder.path(), features)
    }
}

pub(super) fn read(root: &Path, features: &[&str]) -> Fingerprints {
    let features: BTreeSet<String> = features.iter().map(|feature| (*feature).to_owned()).collect();
    fingerprints(root, &features).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the differences between two fingerprints: `stage`, `stage: crate` and `stage/part`, sorted.
pub(super) fn changes(before: &Fingerprints, after: &Fingerprints) -> Vec<String> {
    let list = |fingerprints: &Fingerprints| {
        let mut lines = BTreeSet::new();
        for (stage, fingerprint) in &fingerprints.stages {
            lines.insert((stage.clone(), fingerprint.base.clone()));
            lines.extend(fingerprint.crates.iter().map(|(name, digest)| (format!("{stage}: {name}"), digest.clone())));
            lines.extend(fingerprint.parts.iter().map(|(name, digest)| (format!("{stage}/{name}"), digest.clone())));
        }
        lines
    };
    let names: BTreeSet<String> =
        list(before).symmetric_difference(&list(after)).map(|(name, _)| name.clone()).collect();
    names.into_iter().collect()
}

/// Returns the fingerprints that the edit changes in a fresh workspace.
pub(super) fn changed_by(edit: impl FnOnce(&House)) -> Vec<String> {
    let house = House::new();
    let before = house.fingerprints();
    edit(&house);
    changes(&before, &house.fingerprints())
}

/// A change of the stage `split` alone.
pub(super) const SPLIT_ALONE: [&str; 2] = ["split", "split: cwm-split"];
