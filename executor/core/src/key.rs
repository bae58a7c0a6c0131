//! The key of an action: what its result depends on, hashed.
//!
//! # Format, version 1
//! `blake3` of the fields of [`Components`] in a list, encoded by [`CanonicalBytes`]. Not in the key: paths, machine,
//! time, thread count, device, verbosity, backend features.

use std::collections::BTreeMap;

use cwm_contract::Value;
use serde::{Deserialize, Serialize};

use crate::digest::{Digest, Key};

/// Version of this format; `why` names a new one as a cause.
pub const KEY_FORMAT: u32 = 1;

/// Everything that a result depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Components {
    /// [`KEY_FORMAT`].
    pub key_format: u32,
    /// [`cwm_contract::CONTRACT_VERSION`].
    pub contract: u32,
    /// Kind of stage.
    pub kind: String,
    /// Code fingerprint, by part: `base` and the parts that the parameters rest on. Empty for stages that only bring in
    /// what is elsewhere, and for commands.
    pub code: BTreeMap<String, String>,
    /// Parameters, normalised, defaults included. An external file is `{"$file": digest}`, a secret
    /// `{"$secret": digest}`.
    pub parameters: BTreeMap<String, Value>,
    /// Content of each input, by input name: label and digest, sorted by label. The label of an input that takes
    /// exactly one artifact is empty, because its name in the pipeline is no part of its content; those of a list
    /// are `0`, `1`, … in its order, or empty where it has one artifact.
    pub inputs: BTreeMap<String, Vec<(String, Digest)>>,
}

impl Components {
    /// Computes the key.
    pub fn key(&self) -> Key {
        let Components { key_format, contract, kind, code, parameters, inputs } = self;
        let mut bytes = CanonicalBytes(Vec::with_capacity(1024));
        bytes.length(5, 6);
        bytes.value(&Value::Int((*key_format).into()));
        bytes.value(&Value::Int((*contract).into()));
        bytes.text(kind);
        bytes.map(code, |bytes, digest| bytes.text(digest));
        bytes.map(parameters, CanonicalBytes::value);
        bytes.map(inputs, |bytes, group| {
            bytes.list(group, |bytes, (label, digest)| {
                bytes.length(5, 2);
                bytes.text(label);
                bytes.0.push(7);
                bytes.0.extend_from_slice(&digest.0);
            });
        });
        Key(bytes.digest().0)
    }
}

/// The canonical encoding of values, one after the other.
///
/// Each value is a type tag (one byte), then its content; numbers are little-endian, lengths unsigned 64-bit:
///
/// | tag | type | content |
/// |---|---|---|
/// | 0 | null | nothing |
/// | 1 | boolean | one byte, 0 or 1 |
/// | 2 | integer | 16 bytes, two's complement |
/// | 3 | float | 8 bytes, IEEE 754; every NaN as 7ff8000000000000, -0 as 0 |
/// | 4 | text | length, UTF-8 bytes |
/// | 5 | list | length, items |
/// | 6 | map | length, then key (as text) and value, sorted by the key's bytes |
/// | 7 | digest | 32 bytes |
#[derive(Default)]
pub struct CanonicalBytes(Vec<u8>);

impl CanonicalBytes {
    /// Computes the digest of all that was appended.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.0)
    }

    /// Appends text.
    pub fn text(&mut self, text: &str) {
        self.length(4, text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn length(&mut self, tag: u8, length: usize) {
        self.0.push(tag);
        self.0.extend_from_slice(&(length as u64).to_le_bytes());
    }

    fn list<T>(&mut self, items: &[T], append: impl Fn(&mut Self, &T)) {
        self.length(5, items.len());
        items.iter().for_each(|item| append(self, item));
    }

    fn map<T>(&mut self, map: &BTreeMap<String, T>, append: impl Fn(&mut Self, &T)) {
        self.length(6, map.len());
        for (key, value) in map {
            self.text(key);
            append(self, value);
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.0.push(0),
            Value::Bool(b) => self.0.extend_from_slice(&[1, u8::from(*b)]),
            Value::Int(i) => {
                self.0.push(2);
                self.0.extend_from_slice(&i.to_le_bytes());
            }
            Value::Float(x) => {
                let canonical = match x {
                    x if x.is_nan() => f64::from_bits(0x7ff8_0000_0000_0000),
                    x if *x == 0.0 => 0.0,
                    x => *x,
                };
                self.0.push(3);
                self.0.extend_from_slice(&canonical.to_bits().to_le_bytes());
            }
            Value::Text(text) => self.text(text),
            Value::List(items) => self.list(items, Self::value),
            Value::Map(map) => self.map(map, Self::value),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn components(value: Value) -> Components {
        Components {
            key_format: KEY_FORMAT,
            contract: 1,
            kind: "split".into(),
            code: BTreeMap::from([("base".into(), "aa".into())]),
            parameters: BTreeMap::from([("x".into(), value)]),
            inputs: BTreeMap::from([("games".into(), vec![(String::new(), Digest::of(b"games"))])]),
        }
    }

    #[test]
    fn numbers_that_are_equal_make_one_key_and_integers_stay_integers() {
        let key = |value| components(value).key();
        assert_eq!(key(Value::Float(1e-3)), key(Value::Float(0.001)));
        assert_eq!(key(Value::Float(0.0)), key(Value::Float(-0.0)));
        assert_ne!(key(Value::Int(1 << 53)), key(Value::Int((1 << 53) + 1)));
        assert_ne!(key(Value::Int(1)), key(Value::Float(1.0)));
        assert_ne!(key(Value::Text("1".into())), key(Value::Int(1)));
    }

    /// Written down once; a change here reruns everything everywhere, and needs a new [`KEY_FORMAT`].
    #[test]
    fn the_encoding_is_what_it_was() {
        assert_eq!(
            components(Value::Float(0.003)).key().to_string(),
            "20b5ed908acc04ddad2844950301c84f1fb12a657a3a0028d29a426d7ec4b3f8"
        );
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i128>().prop_map(Value::Int),
            any::<f64>().prop_map(Value::Float),
            ".{0,6}".prop_map(Value::Text),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
                prop::collection::btree_map(".{0,3}", inner, 0..4).prop_map(Value::Map),
            ]
        })
    }

    fn same(a: &Value, b: &Value) -> bool {
        match (a, b) {
            (Value::Float(a), Value::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
            (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
            (Value::Map(a), Value::Map(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|((ka, a), (kb, b))| ka == kb && same(a, b))
            }
            (a, b) => a == b,
        }
    }

    proptest! {
        #[test]
        fn different_values_have_different_keys(a in value(), b in value()) {
            let (ka, kb) = (components(a.clone()).key(), components(b.clone()).key());
            prop_assert_eq!(ka == kb, same(&a, &b));
        }
    }
}
