//! BLAKE3 digests of content, and keys of actions.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The value of each character as a hexadecimal digit; 16 for others.
const DIGIT_VALUES: [u8; 256] = {
    let (mut values, mut digit) = ([16; 256], 0);
    while digit < 16 {
        values[b"0123456789abcdef"[digit] as usize] = digit as u8;
        digit += 1;
    }
    values
};

/// Decodes 64 lower-case hexadecimal digits. A run with nothing to do decodes thousands, for which blake3's decoder takes a
/// twentieth of its time.
fn decode(text: &str) -> Option<[u8; 32]> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let pairs: &[[u8; 2]; 32] = pairs.try_into().ok()?;
    // A value of 16 is found at the end, so that the loop has no branches.
    let (mut bytes, mut all) = ([0; 32], 0);
    for (byte, pair) in bytes.iter_mut().zip(pairs) {
        let [high, low] = pair.map(|digit| DIGIT_VALUES[usize::from(digit)]);
        all |= high | low;
        *byte = high << 4 | low;
    }
    (all < 16).then_some(bytes)
}

/// Text that is not copied where the reader has it as it stands.
#[derive(Deserialize)]
struct Text<'t>(#[serde(borrow)] Cow<'t, str>);

macro_rules! hex_newtype {
    ($(#[$meta:meta])* $name:ident, $what:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub [u8; 32]);

        impl $name {
            /// Returns the first 12 hexadecimal digits, enough for people.
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
                let problem = || format!("`{text}` is not {}: 64 lower-case hexadecimal digits are", $what);
                decode(text).map($name).ok_or_else(problem)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Text::deserialize(deserializer)?.0.parse().map_err(D::Error::custom)
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

/// The digests of the outputs of a result, by name.
pub type OutputDigests = BTreeMap<String, Digest>;

impl Digest {
    /// Computes the digest of bytes in memory.
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
