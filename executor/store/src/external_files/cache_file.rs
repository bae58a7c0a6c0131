//! The file of the digest cache.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::fingerprint::FileFingerprint;
use cwm_core::{Digest, read_regular_file};

/// Version of the format; any other is ignored and replaced, since the loss costs only time.
const CACHE_FORMAT: u32 = 2;

/// Fingerprints by absolute path.
pub(super) type Entries = BTreeMap<PathBuf, FileFingerprint>;

#[derive(Serialize, Deserialize)]
struct Header {
    outside_cache: u32,
    /// BLAKE3 of all that follows: a cache with a flipped bit is not used.
    digest: Digest,
}

/// Encodes the cache: a header, then one JSON object a path, sorted. Paths that are not UTF-8 are left out.
pub(super) fn encode(entries: &Entries) -> String {
    let lines = entries.values().filter_map(|entry| serde_json::to_string(entry).ok());
    let lines: String = lines.map(|line| line + "\n").collect();
    let header = Header { outside_cache: CACHE_FORMAT, digest: Digest::of(lines.as_bytes()) };
    // A struct of a number and a text always has a JSON form.
    serde_json::to_string(&header).unwrap_or_default() + "\n" + &lines
}

/// Decodes [`encode`]'s text; nothing if it is anything else.
fn decode(text: &str) -> Option<Entries> {
    let (header, lines) = text.split_once('\n')?;
    let header: Header = serde_json::from_str(header).ok()?;
    if header.outside_cache != CACHE_FORMAT || header.digest != Digest::of(lines.as_bytes()) {
        return None;
    }
    let entry = |line| serde_json::from_str(line).ok().map(|entry: FileFingerprint| (entry.path.clone(), entry));
    lines.lines().map(entry).collect()
}

/// Reads the cache at `path`; it is empty if that is not a cache of this format.
pub(super) fn read(path: &Path) -> Entries {
    let text = read_regular_file(path).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    text.as_deref().and_then(decode).unwrap_or_default()
}
