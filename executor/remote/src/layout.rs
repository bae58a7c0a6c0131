//! The layout of a remote.
//!
//! # Format, version 1
//!
//! | name | what |
//! |---|---|
//! | `format` | the version of this layout, `1`, as text |
//! | `objects/ab/cdef…` | content, by BLAKE3 |
//! | `actions/ab/<key>/<digest>.json` | a record of that key, by the BLAKE3 of its bytes |
//! | `actions/ab/<key>/index` | which records of that key there are ([`super::index`]) |

use cwm_core::{Digest, Key};

/// The version of the layout.
pub const REMOTE_FORMAT: u32 = 1;

/// The name of the version.
pub const FORMAT: &str = "format";

/// Returns the name of content.
pub fn object(digest: &Digest) -> String {
    let hex = digest.to_string();
    format!("objects/{}/{}", &hex[..2], &hex[2..])
}

/// Returns the folder of a key's records.
pub fn actions(key: &Key) -> String {
    let hex = key.to_string();
    format!("actions/{}/{hex}", &hex[..2])
}

/// Returns the name of a record.
pub fn record(key: &Key, digest: &Digest) -> String {
    format!("{}/{digest}.json", actions(key))
}

/// Returns the name of a key's index.
pub fn index(key: &Key) -> String {
    format!("{}/index", actions(key))
}

/// Returns the digest in the name of a record.
pub fn digest_of_record(name: &str) -> Option<Digest> {
    name.rsplit('/').next()?.strip_suffix(".json")?.parse().ok()
}
