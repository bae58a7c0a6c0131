//! Lines of curves as numbers by step: what `cwm log --follow` and `cwm log --tensorboard` show of a training.

use cwm_contract::{CurvePoint, Failure};
use serde_json::Value;

/// The numbers of one line of a file of format `curves`: `train/loss`, `validation/exact` and so on; `reinforce/verdicts/legal` of
/// an entry that is an object. An entry that is null has no number.
pub fn curves(line: &str) -> Result<Vec<CurvePoint>, Failure> {
    let wrong =
        |what: &str| Failure::input(format!("a line of curves {what}: {}", crate::format::escape_controls(line, 120)));
    let Ok(Value::Object(entries)) = serde_json::from_str(line) else { return Err(wrong("is no JSON object")) };
    let kind = entries.get("kind").and_then(Value::as_str).ok_or_else(|| wrong("has no `kind`"))?;
    let step = entries.get("step").and_then(Value::as_u64).ok_or_else(|| wrong("has no `step`"))?;
    let mut points = Vec::new();
    for (name, value) in entries.iter().filter(|(name, _)| !["kind", "step"].contains(&name.as_str())) {
        let parts: Vec<(String, &Value)> = match value {
            Value::Null => Vec::new(),
            Value::Object(parts) => parts.iter().map(|(part, value)| (format!("{name}/{part}"), value)).collect(),
            one => vec![(name.clone(), one)],
        };
        for (name, value) in parts {
            let value = number(value).ok_or_else(|| wrong(&format!("holds no number as `{name}`")))?;
            points.push(CurvePoint { curve: format!("{kind}/{name}"), step, value });
        }
    }
    Ok(points)
}

/// JSON has no numbers that are not finite; in curves they are text.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => match text.as_str() {
            "inf" => Some(f64::INFINITY),
            "-inf" => Some(f64::NEG_INFINITY),
            "nan" => Some(f64::NAN),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_a_line_is_a_point() {
        let found = curves(r#"{"kind":"train","step":3,"loss":1.5,"learning_rate":0.001,"gradient_norm":"-inf"}"#);
        let point = |curve: &str, value| CurvePoint { curve: curve.to_owned(), step: 3, value };
        let mut found = found.unwrap();
        found.sort_by(|a, b| a.curve.cmp(&b.curve));
        let expected = [
            point("train/gradient_norm", f64::NEG_INFINITY),
            point("train/learning_rate", 0.001),
            point("train/loss", 1.5),
        ];
        assert_eq!(found, expected);
        assert!(curves(r#"{"kind":"validation","step":1,"loss":"nan"}"#).unwrap()[0].value.is_nan());
    }

    #[test]
    fn an_entry_may_be_an_object_of_numbers_or_null() {
        let line = r#"{"kind":"reinforce","step":2,"gradient_norm":null,"verdicts":{"legal":3,"illegal":1}}"#;
        let found: Vec<(String, f64)> =
            curves(line).unwrap().into_iter().map(|point| (point.curve, point.value)).collect();
        assert_eq!(
            found,
            [("reinforce/verdicts/illegal".to_owned(), 1.0), ("reinforce/verdicts/legal".to_owned(), 3.0)]
        );
    }

    #[test]
    fn other_lines_are_refused_in_words() {
        let message = |line: &str| curves(line).unwrap_err().message;
        assert_eq!(message("[1]"), "a line of curves is no JSON object: [1]");
        assert_eq!(message(r#"{"step":1}"#), r#"a line of curves has no `kind`: {"step":1}"#);
        assert_eq!(message(r#"{"kind":"a","step":-1}"#), r#"a line of curves has no `step`: {"kind":"a","step":-1}"#);
        assert!(message(r#"{"kind":"a","step":1,"x":"y"}"#).starts_with("a line of curves holds no number as `x`: "));
    }
}
