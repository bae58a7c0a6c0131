//! The code fingerprints of the stages in this binary, computed by the build script.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// What the build script found out about the code of one stage (`docs/design/fingerprint.md`).
#[derive(Clone, Debug, Deserialize)]
pub struct Fingerprint {
    /// Everything but the parts.
    pub base: String,
    /// Separately hashed parts by name, such as one model family each.
    pub parts: BTreeMap<String, String>,
    /// The same code crate by crate, so that `why` can name the one that changed.
    pub crates: BTreeMap<String, String>,
}

static ALL: LazyLock<BTreeMap<String, Fingerprint>> = LazyLock::new(|| {
    serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/fingerprints.json")))
        .expect("the build script writes well-formed fingerprints")
});

/// The code that a stage of this kind rests on, as it enters a key: `base`, one entry a crate (`crate …`), and the
/// parts that its parameters select (`part …`); all parts where `selected` is `None`. Empty for a kind that is not
/// one of the workspace's stage crates.
pub fn code_of(kind: &str, selected: Option<&[String]>) -> BTreeMap<String, String> {
    let Some(fingerprint) = ALL.get(kind) else {
        return BTreeMap::new();
    };
    let mut code = BTreeMap::from([("base".to_owned(), fingerprint.base.clone())]);
    code.extend(fingerprint.crates.iter().map(|(name, digest)| (format!("crate {name}"), digest.clone())));
    for (name, digest) in &fingerprint.parts {
        if selected.is_none_or(|selected| selected.contains(name)) {
            code.insert(format!("part {name}"), digest.clone());
        }
    }
    code
}
