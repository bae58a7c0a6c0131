//! Stages that only bring in what is elsewhere: their result is known by the content, wherever it comes from.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Something on the network, whole or its beginning.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fetch {
    /// Where it is.
    pub url: String,
    /// Only so many bytes from its beginning; all of it if that is shorter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_bytes: Option<u64>,
}

impl std::fmt::Display for Fetch {
    /// `https://…`, or `the first 100 bytes of https://…`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.first_bytes {
            Some(bytes) => write!(f, "the first {bytes} bytes of {}", self.url),
            None => f.write_str(&self.url),
        }
    }
}

/// What came of a [`Fetch`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fetched {
    /// What was asked for.
    pub fetch: Fetch,
    /// SHA-256 of what came, 64 lower-case hexadecimal digits.
    pub sha256: String,
    /// How many bytes came.
    pub bytes: u64,
}

/// A sum that is known of a [`Fetch`] from earlier, and that it must have again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    /// Of what.
    pub fetch: Fetch,
    /// SHA-256, 64 lower-case hexadecimal digits.
    pub sha256: String,
    /// Who says so, as it ends a sentence: `is pinned in sources.lock`.
    pub words: String,
    /// What to do where the bytes differ.
    pub advice: String,
}

/// One thing that a stage brings in unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brought {
    /// Its name in the folder that the stage makes; none where the output is the one file.
    pub name: Option<String>,
    /// Where it comes from.
    pub from: Origin,
    /// The SHA-256 that it must have, if a parameter says so: 64 lower-case hexadecimal digits.
    pub sha256: Option<String>,
}

/// Where something that a stage brings in comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file from outside, or its beginning.
    File {
        /// Absolute.
        path: PathBuf,
        /// Only so many bytes from its beginning.
        first_bytes: Option<u64>,
    },
    /// The network.
    Url(Fetch),
}
