//! The code fingerprints of the stages in this binary, computed by the build script.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use cwm_core::Error;

/// The findings of the build script about the code of one stage (`docs/design/fingerprint.md`).
#[derive(Clone, Debug, Deserialize)]
pub struct Fingerprint {
    /// Everything but the parts.
    pub base: String,
    /// Separately hashed parts by name, such as one model family each.
    pub parts: BTreeMap<String, String>,
    /// Digests of the code crate by crate, so that `why` can name the one that changed.
    pub crates: BTreeMap<String, String>,
}

static ALL: LazyLock<BTreeMap<String, Fingerprint>> = LazyLock::new(|| {
    serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/fingerprints.json")))
        .expect("the build script writes well-formed fingerprints")
});

/// The code that a stage of this kind depends on, as it enters a key: `base`, one entry a crate (`crate …`), and the
/// parts that its parameters select (`part …`); all parts where `selected` is `None`.
///
/// # Errors
/// The kind is none of the workspace's stage crates, or a selected part does not exist: without it in the key, a change
/// of its code would go unnoticed.
pub fn code_of(kind: &str, selected: Option<&[String]>) -> Result<BTreeMap<String, String>, Error> {
    let fingerprint = ALL.get(kind);
    let fingerprint = fingerprint.ok_or_else(|| Error::internal(format!("no code fingerprint of stage `{kind}`")))?;
    if let Some(unknown) = selected.into_iter().flatten().find(|part| !fingerprint.parts.contains_key(*part)) {
        return Err(Error::internal(format!("stage `{kind}` has no separately hashed part `{unknown}`")));
    }
    let mut code = BTreeMap::from([("base".to_owned(), fingerprint.base.clone())]);
    code.extend(fingerprint.crates.iter().map(|(name, digest)| (format!("crate {name}"), digest.clone())));
    for (name, digest) in &fingerprint.parts {
        if selected.is_none_or(|selected| selected.contains(name)) {
            code.insert(format!("part {name}"), digest.clone());
        }
    }
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_not_there_is_an_error_and_one_that_is_stands_alone() {
        assert!(code_of("train", Some(&["no_such_family".to_owned()])).is_err());
        assert!(code_of("no_such_stage", None).is_err());
        let one = code_of("train", Some(&["transformer".to_owned()])).unwrap();
        let parts: Vec<_> = one.keys().filter(|name| name.starts_with("part ")).collect();
        assert_eq!(parts, ["part transformer"]);
        assert!(one.contains_key("crate cwm-models") && !one.contains_key("crate cwm-contract"));
    }
}
