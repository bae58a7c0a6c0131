//! BLAKE3 digests of content, and keys of actions.

use std::fmt;
use std::str::FromStr;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// What each byte is worth as a hexadecimal digit; more than 15 if it is none.
const WORTH: [u8; 256] = {
    let mut worth = [u8::MAX; 256];
    let mut digit = 0;
    while digit < DIGITS.len() {
        worth[DIGITS[digit] as usize] = digit as u8;
        digit += 1;
    }
    worth
};

/// What 64 lower-case hexadecimal digits spell. By hand, as thousands are read and written before a run says that there is
/// nothing to do.
fn bytes_of(text: &str) -> Option<[u8; 32]> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let pairs: &[[u8; 2]; 32] = pairs.try_into().ok()?;
    let mut bytes = [0; 32];
    // Looked at once, at the end: what is no digit sets a high bit.
    let mut seen = 0;
    for (byte, pair) in bytes.iter_mut().zip(pairs) {
        let [high, low] = pair.map(|character| WORTH[usize::from(character)]);
        seen |= high | low;
        *byte = high << 4 | low;
    }
    (seen < 16).then_some(bytes)
}

/// Reads a value out of its text, without a copy of that: what makes the value, and what to call it.
struct Text<T>(fn([u8; 32]) -> T, &'static str);

impl<T> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.1)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        let wrong = || E::custom(format!("`{text}` is not {}: 64 lower-case hexadecimal digits are", self.1));
        bytes_of(text).map(self.0).ok_or_else(wrong)
    }
}

macro_rules! hex_newtype {
    ($(#[$meta:meta])* $name:ident, $what:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub [u8; 32]);

        impl $name {
            /// The first 12 hexadecimal digits: enough for people.
            pub fn short(&self) -> String {
                self.to_string()[..12].to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut text = [0; 64];
                for (pair, byte) in text.as_chunks_mut::<2>().0.iter_mut().zip(self.0) {
                    *pair = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
                }
                f.write_str(str::from_utf8(&text).map_err(|_| fmt::Error)?)
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
                bytes_of(text)
                    .map($name)
                    .ok_or_else(|| format!("`{text}` is not {}: 64 lower-case hexadecimal digits are", $what))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                d.deserialize_str(Text($name, $what))
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
    /// What identifies an action: BLAKE3 of the canonical encoding of its [`Components`](crate::key::Components).
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
