//! The type of a parameter, as JSON Schema.

use cwm_contract::Type;
use serde_json::{Value, json};

/// Returns the schema of a parameter of this type: such a value, or a `$name` for one.
pub fn schema(kind: &Type) -> Value {
    let mut all = alternatives(kind);
    let is_any = |one: &Value| *one == json!({}) || *one == json!({ "type": "string" });
    if !all.iter().any(is_any) {
        all.push(json!({ "$ref": "#/definitions/variable" }));
    }
    match all.len() {
        1 => all.remove(0),
        _ => json!({ "anyOf": all }),
    }
}

fn alternatives(kind: &Type) -> Vec<Value> {
    match kind {
        Type::Bool => vec![json!({ "type": "boolean" })],
        Type::Integer { min, max } => {
            let mut integer = json!({ "type": "integer" });
            if let Some(min) = i64::try_from(*min).ok().filter(|min| *min != i64::MIN) {
                integer["minimum"] = json!(min);
            }
            // Not the bound of the integer type that holds the value.
            if let Some(max) = i64::try_from(*max).ok().filter(|max| ![u32::MAX.into(), i64::MAX].contains(max)) {
                integer["maximum"] = json!(max);
            }
            vec![integer]
        }
        Type::Float => vec![json!({ "type": "number" })],
        Type::Text | Type::File | Type::Files { .. } | Type::FileOrUrl { .. } => vec![json!({ "type": "string" })],
        Type::Secret { .. } => vec![json!({ "type": "string" }), json!({ "type": "null" })],
        Type::Choice(words) => vec![json!({ "enum": words })],
        Type::Bytes => vec![
            json!({ "type": "integer", "minimum": 1 }),
            json!({ "type": "string", "pattern": r"^\s*[0-9.eE+]+\s*([kKmMgGtT]([iI]?[bB])?|[bB])\s*$" }),
        ],
        Type::List(inner) => vec![json!({ "type": "array", "items": schema(inner) })],
        Type::OneOrMany(inner) => {
            let mut all = alternatives(inner);
            all.push(json!({ "type": "array", "items": schema(inner) }));
            all
        }
        Type::Map(inner) => vec![json!({ "type": "object", "additionalProperties": schema(inner) })],
        Type::Optional(inner) => {
            let mut all = alternatives(inner);
            if !all.contains(&json!({})) {
                all.push(json!({ "type": "null" }));
            }
            all
        }
        Type::Any => vec![json!({})],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_optional_number_may_be_a_number_nothing_or_a_variable() {
        let kind = Type::Optional(Box::new(Type::Integer { min: 1, max: u64::MAX.into() }));
        let variable = json!({ "$ref": "#/definitions/variable" });
        let expected = json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "null" }, variable] });
        assert_eq!(schema(&kind), expected);
    }

    #[test]
    fn text_is_any_text_and_a_word_of_several_may_hold_a_variable() {
        assert_eq!(schema(&Type::Text), json!({ "type": "string" }));
        let choice = schema(&Type::Choice(&["a", "b"]));
        assert_eq!(choice, json!({ "anyOf": [{ "enum": ["a", "b"] }, { "$ref": "#/definitions/variable" }] }));
    }
}
