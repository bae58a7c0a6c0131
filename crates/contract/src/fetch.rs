//! Sources of stages that only fetch or copy: their result is identified by its content, wherever it comes from.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A request for a file on the network, or for its beginning.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FetchRequest {
    /// Its URL.
    pub url: String,
    /// The number of bytes to fetch from its beginning; all of it if that is shorter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_bytes: Option<u64>,
}

impl std::fmt::Display for FetchRequest {
    /// `https://…`, or `the first 100 bytes of https://…`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.first_bytes {
            Some(bytes) => write!(f, "the first {bytes} bytes of {}", self.url),
            None => f.write_str(&self.url),
        }
    }
}

/// The outcome of a [`FetchRequest`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchResult {
    /// The request.
    pub fetch: FetchRequest,
    /// SHA-256 of the bytes that came, 64 lower-case hexadecimal digits.
    pub sha256: String,
    /// Number of bytes that came.
    pub bytes: u64,
}

/// A checksum of a [`FetchRequest`] that is known from earlier, and that its bytes must have again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedChecksum {
    /// The request that it belongs to.
    pub fetch: FetchRequest,
    /// SHA-256, 64 lower-case hexadecimal digits.
    pub sha256: String,
    /// The origin of the checksum, as the end of a sentence: `is pinned in sources.lock`.
    pub reason: String,
    /// A remedy for bytes that differ.
    pub hint: String,
}

/// A file that a stage fetches or copies unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalSource {
    /// Its name in the output folder; none if the output is this one file.
    pub name: Option<String>,
    /// Its origin.
    pub from: Origin,
    /// The SHA-256 that it must have, if a parameter says so: 64 lower-case hexadecimal digits.
    pub sha256: Option<String>,
}

/// The origin of an external source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An external file, or its beginning.
    File {
        /// Absolute.
        path: PathBuf,
        /// The number of bytes to fetch from its beginning.
        first_bytes: Option<u64>,
    },
    /// The network.
    Url(FetchRequest),
}
