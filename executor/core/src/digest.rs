//! BLAKE3 digests of content, and keys of actions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

macro_rules! hex_newtype {
    ($(#[$meta:meta])* $name:ident, $what:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(into = "String", try_from = "String")]
        pub struct $name(pub [u8; 32]);

        impl $name {
            /// The first 12 hexadecimal digits: enough for people.
            pub fn short(&self) -> String {
                self.to_string()[..12].to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.short())
            }
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let is_lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
                let hash = blake3::Hash::from_hex(text).ok().filter(|_| is_lower);
                hash.map(|hash| $name(*hash.as_bytes()))
                    .ok_or_else(|| format!("`{text}` is not {}: 64 lower-case hexadecimal digits are", $what))
            }
        }

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.to_string()
            }
        }
    };
}

hex_newtype!(
    /// BLAKE3 of the content of a file, or of the manifest of a folder.
    Digest,
    "a digest"
);
hex_newtype!(
    /// The identity of an action: BLAKE3 of the canonical encoding of its [`Components`](crate::key::Components).
    Key,
    "a key"
);

impl Digest {
    /// The digest of bytes in memory.
    pub fn of(bytes: &[u8]) -> Self {
        Digest(*blake3::hash(bytes).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_reads_back_and_refuses_anything_else() {
        let digest = Digest::of(b"abc");
        assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
        for wrong in ["", "ab", &"g".repeat(64), &digest.to_string().to_uppercase()] {
            assert!(wrong.parse::<Digest>().is_err(), "{wrong}");
        }
    }
}
