//! Plain data: what a parameter can hold.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Parameters by name.
pub type Values = BTreeMap<String, Value>;

/// One value, as written in the YAML or as normalised by a parameter's type.
///
/// Integers stay integers (2^53 and 2^53 + 1 differ). In JSON an integer that fits 64 bits is a JSON integer, a
/// finite float a JSON float (always with a point or an exponent); anything else is an object with one key,
/// `{"$int": "…"}` or `{"$float": "inf"}`.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Value {
    /// Nothing: an optional parameter that was not given.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A 64-bit float.
    Float(f64),
    /// Text.
    Text(String),
    /// A sequence.
    List(Vec<Value>),
    /// A map, sorted by key.
    Map(BTreeMap<String, Value>),
}

impl Value {
    /// Returns the name of this kind of value with an article, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "nothing",
            Value::Bool(_) => "a boolean",
            Value::Int(_) => "an integer",
            Value::Float(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }

    /// The text inside, if this is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Prints the value as a person would write it in the YAML, in one line.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Int(i) => write!(f, "{i}"),
            Value::Float(x) if x.is_nan() => f.write_str(".nan"),
            Value::Float(x) if x.is_infinite() => f.write_str(if *x > 0.0 { ".inf" } else { "-.inf" }),
            Value::Float(x) => write!(f, "{x:?}"),
            Value::Text(text) => f.write_str(text),
            Value::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Value::Map(map) => {
                f.write_str("{")?;
                for (i, (key, item)) in map.iter().enumerate() {
                    write!(f, "{}{key}: {item}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => s.serialize_unit(),
            Value::Bool(b) => s.serialize_bool(*b),
            Value::Int(i) => match i64::try_from(*i) {
                Ok(small) => s.serialize_i64(small),
                Err(_) => {
                    let mut map = s.serialize_map(Some(1))?;
                    map.serialize_entry("$int", &i.to_string())?;
                    map.end()
                }
            },
            Value::Float(x) if x.is_finite() => s.serialize_f64(*x),
            Value::Float(x) => {
                let mut map = s.serialize_map(Some(1))?;
                map.serialize_entry(
                    "$float",
                    if x.is_nan() {
                        "nan"
                    } else if *x > 0.0 {
                        "inf"
                    } else {
                        "-inf"
                    },
                )?;
                map.end()
            }
            Value::Text(text) => s.serialize_str(text),
            Value::List(items) => items.serialize(s),
            Value::Map(map) => map.serialize(s),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct AnyValue;
        impl<'de> Visitor<'de> for AnyValue {
            type Value = Value;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }
            fn visit_none<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }
            fn visit_some<D: Deserializer<'de>>(self, d: D) -> Result<Value, D::Error> {
                d.deserialize_any(self)
            }
            fn visit_bool<E>(self, v: bool) -> Result<Value, E> {
                Ok(Value::Bool(v))
            }
            fn visit_i64<E>(self, v: i64) -> Result<Value, E> {
                Ok(Value::Int(v.into()))
            }
            fn visit_u64<E>(self, v: u64) -> Result<Value, E> {
                Ok(Value::Int(v.into()))
            }
            fn visit_i128<E>(self, v: i128) -> Result<Value, E> {
                Ok(Value::Int(v))
            }
            fn visit_f64<E>(self, v: f64) -> Result<Value, E> {
                Ok(Value::Float(v))
            }
            fn visit_str<E>(self, v: &str) -> Result<Value, E> {
                Ok(Value::Text(v.to_owned()))
            }
            fn visit_string<E>(self, v: String) -> Result<Value, E> {
                Ok(Value::Text(v))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Value::List(items))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
                let mut map = BTreeMap::new();
                while let Some((key, value)) = access.next_entry::<String, Value>()? {
                    map.insert(key, value);
                }
                match (map.len(), map.first_key_value()) {
                    (1, Some((key, Value::Text(text)))) if key == "$int" => {
                        text.parse().map(Value::Int).map_err(de::Error::custom)
                    }
                    (1, Some((key, Value::Text(text)))) if key == "$float" => {
                        text.parse().map(Value::Float).map_err(de::Error::custom)
                    }
                    _ => Ok(Value::Map(map)),
                }
            }
        }
        d.deserialize_any(AnyValue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_integers_and_floats_apart() {
        for value in [
            Value::Int(1),
            Value::Float(1.0),
            Value::Int((1 << 53) + 1),
            Value::Int(i128::from(u64::MAX) * 7),
            Value::Float(f64::INFINITY),
            Value::Float(1e-3),
            Value::Text("1".into()),
            Value::List(vec![Value::Null, Value::Bool(true)]),
        ] {
            let json = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), value, "{json}");
        }
    }
}
