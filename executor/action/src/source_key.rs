//! The external sources of a stage in a key: by the checksum of their content as far as that is known, so that neither
//! the stage's code nor where the content comes from matters.
//!
//! In the key's parameters this is `source`: one content, or a list of `{"name": …, "content": …}`. A content is
//! `{"$sha256": sum}` where a parameter or a pin has the sum, `{"$file": digest}` for a file, and `{"$url": url}` for
//! what was not fetched yet; the last two with `first_bytes` where only the beginning is meant.

use std::collections::BTreeMap;

use cwm_contract::{ExpectedChecksum, ExternalSource, FetchResult, Origin, Value};

use cwm_core::{Components, Error};
use cwm_project::pins::Pins;
use cwm_store::{DigestCache, FileFingerprint};

/// The one parameter in the key of a stage with external sources.
pub const SOURCE: &str = "source";

const SHA256: &str = "$sha256";
pub(super) const SECRET: &str = "$secret";
pub(super) const FILE: &str = "$file";
const URL: &str = "$url";
const FIRST_BYTES: &str = "first_bytes";

/// Returns the value of `sources` in the key, and the checksums that pins have for it; the files among it are added to
/// `seen`. `stage` is the name in the pipeline, for advice.
///
/// # Errors
/// A file cannot be read.
pub fn key_value(
    sources: &[ExternalSource],
    stage: &str,
    pins: &Pins,
    digests: &DigestCache,
    seen: &mut Vec<FileFingerprint>,
) -> Result<(Value, Vec<ExpectedChecksum>), Error> {
    let mut expected = Vec::new();
    let mut items = Vec::with_capacity(sources.len());
    for one in sources {
        let content = match (&one.from, &one.sha256) {
            (Origin::File { path, first_bytes }, sum) => {
                let snapshot = digests.snapshot(path)?;
                let by_digest = content(FILE, &snapshot.digest.to_string(), *first_bytes);
                seen.push(snapshot);
                sum.as_ref().map_or(by_digest, |sum| content(SHA256, sum, None))
            }
            (Origin::Url(_), Some(sum)) => content(SHA256, sum, None),
            (Origin::Url(fetch), None) => match pins.expected_checksum(fetch, stage) {
                Some(pinned) => {
                    let value = content(SHA256, &pinned.sha256, None);
                    expected.push(pinned);
                    value
                }
                None => content(URL, &fetch.url, fetch.first_bytes),
            },
        };
        items.push(match &one.name {
            None => content,
            Some(name) => Value::Map(BTreeMap::from([
                ("name".to_owned(), Value::Text(name.clone())),
                ("content".to_owned(), content),
            ])),
        });
    }
    let is_single = matches!(sources, [ExternalSource { name: None, .. }]);
    let value = if is_single { items.remove(0) } else { Value::List(items) };
    Ok((value, expected))
}

pub(super) fn content(kind: &str, text: &str, first_bytes: Option<u64>) -> Value {
    let mut map = BTreeMap::from([(kind.to_owned(), Value::Text(text.to_owned()))]);
    map.extend(first_bytes.map(|bytes| (FIRST_BYTES.to_owned(), Value::Int(bytes.into()))));
    Value::Map(map)
}

/// Returns true if something in this key is known by its URL only.
pub fn has_unpinned_url(components: &Components) -> bool {
    components.parameters.get(SOURCE).is_some_and(|value| unpinned_urls(value) > 0)
}

/// Counts the contents that are known by their URL only.
pub fn unpinned_urls(value: &Value) -> usize {
    match value {
        Value::Map(map) if map.contains_key(URL) => 1,
        Value::Map(map) => map.values().map(unpinned_urls).sum(),
        Value::List(items) => items.iter().map(unpinned_urls).sum(),
        _ => 0,
    }
}

/// The components with the sums of what was fetched in place of the URLs; nothing if one is not among `fetched`.
pub fn with_checksums(components: &Components, fetched: &[FetchResult]) -> Option<Components> {
    let mut pinned = components.clone();
    pin(pinned.parameters.get_mut(SOURCE)?, fetched)?;
    Some(pinned)
}

fn pin(value: &mut Value, fetched: &[FetchResult]) -> Option<()> {
    match value {
        Value::Map(map) if map.contains_key(URL) => {
            let is = |one: &&FetchResult| content(URL, &one.fetch.url, one.fetch.first_bytes) == *value;
            *value = content(SHA256, &fetched.iter().find(is)?.sha256, None);
            Some(())
        }
        Value::Map(map) => map.values_mut().try_for_each(|item| pin(item, fetched)),
        Value::List(items) => items.iter_mut().try_for_each(|item| pin(item, fetched)),
        _ => Some(()),
    }
}

/// Returns a content, or several, or a secret, for people; nothing for other values.
pub fn readable(value: &Value) -> Option<String> {
    match value {
        Value::List(items) => {
            let items: Option<Vec<String>> = items.iter().map(readable).collect();
            items.map(|items| format!("[{}]", items.join(", ")))
        }
        Value::Map(map) => {
            if let Some(content) = map.get("content") {
                return readable(content);
            }
            let (kind, text) = map.iter().find(|(kind, _)| kind.starts_with('$'))?;
            let text = text.as_text()?;
            let short = text.get(..12).unwrap_or(text);
            let source = match kind.as_str() {
                SHA256 => format!("sha256 {short}"),
                FILE => format!("file {short}"),
                SECRET => format!("secret {short}"),
                URL => text.to_owned(),
                _ => return None,
            };
            Some(match map.get(FIRST_BYTES) {
                Some(bytes) => format!("the first {bytes} bytes of {source}"),
                None => source,
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use cwm_contract::FetchRequest;

    use super::*;
    use cwm_core::KEY_FORMAT;

    fn url(url: &str, first_bytes: Option<u64>) -> FetchRequest {
        FetchRequest { url: url.into(), first_bytes }
    }

    fn external(name: Option<&str>, fetch: FetchRequest, sha256: Option<&str>) -> ExternalSource {
        ExternalSource { name: name.map(str::to_owned), from: Origin::Url(fetch), sha256: sha256.map(str::to_owned) }
    }

    fn components(external: &[ExternalSource]) -> Components {
        let (value, _) =
            key_value(external, "games", &Pins::default(), &DigestCache::without_cache(), &mut Vec::new()).unwrap();
        Components {
            key_format: KEY_FORMAT,
            contract: 1,
            kind: "download".into(),
            code: BTreeMap::new(),
            parameters: BTreeMap::from([(SOURCE.to_owned(), value)]),
            inputs: BTreeMap::new(),
        }
    }

    #[test]
    fn what_is_fetched_has_the_key_of_its_sum() {
        let sum = "ab".repeat(32);
        let open = components(&[external(None, url("http://x/a", Some(5)), None)]);
        assert!(has_unpinned_url(&open));
        let fetched = |fetch| FetchResult { fetch, sha256: sum.clone(), bytes: 5 };
        assert_eq!(with_checksums(&open, &[fetched(url("http://x/a", None))]), None);
        let closed = with_checksums(&open, &[fetched(url("http://x/a", Some(5)))]).unwrap();
        assert_eq!(closed, components(&[external(None, url("http://elsewhere/b", None), Some(&sum))]));
        assert!(!has_unpinned_url(&closed));
    }

    #[test]
    fn a_list_is_settled_as_a_whole_and_keeps_its_names() {
        let sum = "ab".repeat(32);
        let names = [Some("00000-a"), Some("00001-b")];
        let list =
            [external(names[0], url("http://x/a", None), None), external(names[1], url("http://x/b", None), None)];
        let open = components(&list);
        let fetched = |name: &str| FetchResult { fetch: url(name, None), sha256: sum.clone(), bytes: 5 };
        assert_eq!(with_checksums(&open, &[fetched("http://x/a")]), None);
        let closed = with_checksums(&open, &[fetched("http://x/a"), fetched("http://x/b")]).unwrap();
        assert_ne!(closed.key(), components(&[external(None, url("http://x/a", None), Some(&sum))]).key());
        assert_eq!(readable(&closed.parameters[SOURCE]).unwrap(), "[sha256 abababababab, sha256 abababababab]");
        assert_eq!(readable(&open.parameters[SOURCE]).unwrap(), "[http://x/a, http://x/b]");
    }
}
