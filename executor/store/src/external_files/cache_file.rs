//! The file that digests of files from outside are remembered in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use cwm_core::{Digest, Stat, read_regular_file};

/// Version of the format; any other is ignored and written anew, since nothing is lost but time.
const CACHE_FORMAT: u32 = 1;

/// One remembered digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub stat: Stat,
    pub digest: Digest,
}

/// Remembered digests by absolute path.
pub(super) type Entries = BTreeMap<PathBuf, Entry>;

#[derive(Serialize, Deserialize)]
struct Line {
    path: PathBuf,
    stat: Stat,
    digest: Digest,
}

#[derive(Serialize, Deserialize)]
struct Header {
    outside_cache: u32,
    /// BLAKE3 of all that follows: a cache with a flipped bit must not vouch for anything.
    digest: Digest,
}

/// The file's text: a header, then one JSON object a path, sorted. Paths that are not UTF-8 are left out.
pub(super) fn encode(entries: &Entries) -> String {
    let lines: String = entries
        .iter()
        .filter_map(|(path, entry)| {
            serde_json::to_string(&Line { path: path.clone(), stat: entry.stat, digest: entry.digest }).ok()
        })
        .map(|line| line + "\n")
        .collect();
    let header = Header { outside_cache: CACHE_FORMAT, digest: Digest::of(lines.as_bytes()) };
    // A struct of a number and a text always has a JSON form.
    serde_json::to_string(&header).unwrap_or_default() + "\n" + &lines
}

/// Reads [`encode`]'s text; nothing if it is anything else.
pub(super) fn decode(text: &str) -> Option<Entries> {
    let (header, lines) = text.split_once('\n')?;
    let header: Header = serde_json::from_str(header).ok()?;
    if header.outside_cache != CACHE_FORMAT || header.digest != Digest::of(lines.as_bytes()) {
        return None;
    }
    lines
        .lines()
        .map(|line| {
            let Line { path, stat, digest } = serde_json::from_str(line).ok()?;
            Some((path, Entry { stat, digest }))
        })
        .collect()
}

/// Reads the cache at `path`; it is empty if that is not a cache of this format.
pub(super) fn read(path: &Path) -> Entries {
    let text = read_regular_file(path).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    text.as_deref().and_then(decode).unwrap_or_default()
}
