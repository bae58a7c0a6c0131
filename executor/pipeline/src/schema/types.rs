//! The type of a parameter, as JSON Schema and in words.

use cwm_contract::Type;
use serde_json::{Value, json};

/// Returns the schema of a parameter of this type: such a value, or a `$name` for one.
pub fn schema(kind: &Type) -> Value {
    let mut all = alternatives(kind);
    let is_any = |one: &Value| *one == json!({}) || *one == json!({ "type": "string" });
    if !all.iter().any(is_any) {
        // Text may be made of several variables, all else is a variable as a whole.
        let variable = if is_text(kind) { "variables" } else { "variable" };
        all.push(json!({ "$ref": format!("#/definitions/{variable}") }));
    }
    match all.len() {
        1 => all.remove(0),
        _ => json!({ "anyOf": all }),
    }
}

fn is_text(kind: &Type) -> bool {
    match kind {
        Type::Choice(_) | Type::Bytes => true,
        Type::Optional(inner) | Type::OneOrMany(inner) => is_text(inner),
        _ => false,
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
            if let Some(max) = bounded(*max).and_then(|max| i64::try_from(max).ok()) {
                integer["maximum"] = json!(max);
            }
            vec![integer]
        }
        Type::Float => vec![json!({ "type": "number" })],
        Type::Text | Type::File | Type::Files { .. } | Type::FileOrUrl => vec![json!({ "type": "string" })],
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

/// In a few words, without an article: `integer from 1 to 100`.
pub fn describe_type(kind: &Type) -> String {
    match kind {
        Type::Integer { min, max } => match (*min, bounded(*max)) {
            (min, _) if min <= i128::from(i64::MIN) => "integer".into(),
            (min, None) => format!("integer from {min}"),
            (min, Some(max)) => format!("integer from {min} to {max}"),
        },
        Type::Bool => "`true` or `false`".into(),
        Type::Float => "number".into(),
        Type::Text => "text".into(),
        Type::Choice(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        Type::File => "path of a file".into(),
        Type::Files { endings } => format!("path of a file, or of a folder of files ({})", endings.join(", ")),
        Type::FileOrUrl => "path of a file, or URL".into(),
        Type::Bytes => "bytes, such as `100MB`".into(),
        Type::Secret { env, .. } => format!("path of a file that holds the secret; without one, the variable `{env}`"),
        Type::List(inner) => format!("list: {}", describe_type(inner)),
        Type::OneOrMany(inner) => format!("{}; or a list of such", describe_type(inner)),
        Type::Map(inner) => format!("map: {}", describe_type(inner)),
        Type::Optional(inner) => format!("{}; or nothing", describe_type(inner)),
        Type::Any => "anything".into(),
    }
}

/// A bound that was meant, not that of the integer it is held in.
fn bounded(max: i128) -> Option<i128> {
    let widths = [u32::MAX.into(), i64::MAX.into(), u64::MAX.into(), i128::MAX];
    (!widths.contains(&max)).then_some(max)
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
        assert_eq!(describe_type(&kind), "integer from 1; or nothing");
    }

    #[test]
    fn text_is_any_text_and_a_word_of_several_may_hold_variables() {
        assert_eq!(schema(&Type::Text), json!({ "type": "string" }));
        let choice = schema(&Type::Choice(&["a", "b"]));
        assert_eq!(choice, json!({ "anyOf": [{ "enum": ["a", "b"] }, { "$ref": "#/definitions/variables" }] }));
        assert_eq!(describe_type(&Type::Choice(&["a", "b"])), "`a`, `b`");
        assert_eq!(describe_type(&Type::Integer { min: 1, max: 9 }), "integer from 1 to 9");
    }
}
