//! The value of a hyper-parameter, equal and written alike whatever it came from.

use std::cmp::Ordering;

use cwm_contract::Value;
use serde_json::Number;

/// A number, text or boolean. A whole number is one number, with or without a point.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Whole(i64),
    /// Any other number; finite.
    Real(f64),
    /// Text.
    Text(String),
}

/// The number up to which every whole number is a double.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl Scalar {
    /// Reads a parameter of the pipeline; `None` if it is no scalar, or not finite.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(value) => Some(Scalar::Bool(*value)),
            Value::Int(value) => i64::try_from(*value).ok().map(Scalar::Whole),
            Value::Float(value) => Scalar::number(*value),
            Value::Text(value) => Some(Scalar::Text(value.clone())),
            Value::Null | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// Reads what a training wrote; `None` if it is no scalar.
    pub fn of_json(value: &serde_json::Value) -> Option<Self> {
        match value {
            serde_json::Value::Bool(value) => Some(Scalar::Bool(*value)),
            serde_json::Value::Number(number) => match number.as_i64() {
                Some(whole) => Some(Scalar::Whole(whole)),
                None => Scalar::number(number.as_f64()?),
            },
            serde_json::Value::String(value) => Some(Scalar::Text(value.clone())),
            _ => None,
        }
    }

    fn number(value: f64) -> Option<Self> {
        match value {
            _ if !value.is_finite() => None,
            _ if value.fract() == 0.0 && value.abs() <= EXACT => Some(Scalar::Whole(value as i64)),
            _ => Some(Scalar::Real(value)),
        }
    }

    /// Returns the scalar as a choice has it.
    pub fn json(&self) -> serde_json::Value {
        match self {
            Scalar::Bool(value) => (*value).into(),
            Scalar::Whole(value) => (*value).into(),
            Scalar::Real(value) => Number::from_f64(*value).map_or(serde_json::Value::Null, Into::into),
            Scalar::Text(value) => value.clone().into(),
        }
    }

    fn as_number(&self) -> Option<f64> {
        match self {
            Scalar::Whole(value) => Some(*value as f64),
            Scalar::Real(value) => Some(*value),
            Scalar::Bool(_) | Scalar::Text(_) => None,
        }
    }

    /// Numbers by size, before all else; booleans, then texts by their letters.
    pub fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Scalar::Whole(a), Scalar::Whole(b)) => a.cmp(b),
            (Scalar::Bool(a), Scalar::Bool(b)) => a.cmp(b),
            (Scalar::Text(a), Scalar::Text(b)) => a.cmp(b),
            _ => match (self.as_number(), other.as_number()) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => matches!(self, Scalar::Text(_)).cmp(&matches!(other, Scalar::Text(_))),
            },
        }
    }
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Scalar::Text(text) => f.write_str(text),
            other => write!(f, "{}", other.json()),
        }
    }
}
