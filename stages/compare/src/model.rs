//! The model and the test set of a scores file.

use cwm_contract::{Failure, Label};
use serde_json::{Map, Value};

/// The properties that runs of one model on one test set share: all but the seed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Model {
    /// The file's name of the test set, else the label's `test` coordinate, else `held_out`.
    pub test: String,
    /// Size, such as `d128/l1`.
    pub size: String,
    /// Coordinates of the label beyond family, size, seed and test, as `axis=value`.
    pub variant: String,
    /// Family, such as `transformer`.
    pub family: String,
}

impl Model {
    /// From the file's `cwm.model`; what that does not say, from the coordinates of the label.
    ///
    /// # Errors
    /// Family or size are in neither place, or no text.
    pub fn of(label: &Label, model: &Map<String, Value>) -> Result<Self, Failure> {
        let text = |key: &str| match (model.get(key), label.coordinate(key)) {
            (Some(Value::String(text)), _) => Ok(text.clone()),
            (Some(Value::Null) | None, Some(coordinate)) => Ok(coordinate.to_owned()),
            (Some(Value::Null) | None, None) => {
                Err(Failure::input(format!("the scores of {label} have no {key} of their model"))
                    .hint(format!("write it into `cwm.model` of the Parquet file, or give the stage a `{key}` axis")))
            }
            (Some(other), _) => {
                Err(Failure::input(format!("`{key}` of the model in the scores of {label} must be text, not {other}")))
            }
        };
        let own = |axis: &str| matches!(axis, "family" | "size" | "seed" | "test");
        let mut others: Vec<_> = label.coordinates.iter().filter(|(axis, _)| !own(axis)).collect();
        others.sort();
        Ok(Model {
            test: match model.get("test") {
                Some(Value::Null) | None => label.coordinate("test").unwrap_or("held_out").to_owned(),
                Some(_) => text("test")?,
            },
            size: text("size")?,
            variant: others.iter().map(|(axis, value)| format!("{axis}={value}")).collect::<Vec<_>>().join(","),
            family: text("family")?,
        })
    }

    /// In words: `slice d64/l1`.
    pub fn name(&self) -> String {
        match self.variant.as_str() {
            "" => format!("{} {}", self.family, self.size),
            variant => format!("{} {} ({variant})", self.family, self.size),
        }
    }
}

/// Returns the seed of a scores file: the label's coordinate `seed`, else the seed in the file; `None` where neither
/// has one.
pub fn seed_of(label: &Label, model: &Map<String, Value>) -> Option<String> {
    let seed_in_file = || match model.get("seed")? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    label.coordinate("seed").map(str::to_owned).or_else(seed_in_file)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_test_set_is_that_of_the_file_else_of_the_label_else_held_out_games() {
        let test = |label: &str, model: Value| {
            Model::of(&label.parse().unwrap(), model.as_object().unwrap()).map(|model| model.test).unwrap()
        };
        assert_eq!(test("e[test=a]", json!({ "family": "f", "size": "s", "test": "b" })), "b");
        assert_eq!(test("e[test=a]", json!({ "family": "f", "size": "s" })), "a");
        assert_eq!(test("e", json!({ "family": "f", "size": "s", "test": null })), "held_out");
    }

    #[test]
    fn the_seed_is_the_coordinate_and_else_what_the_file_tells() {
        let check = |label: &str, model: Value, expected: Option<&str>| {
            let found = seed_of(&label.parse().unwrap(), model.as_object().unwrap());
            assert_eq!(found.as_deref(), expected, "{label} {model}");
        };
        check("e[seed=3,test=held_out]", json!({ "seed": 0 }), Some("3"));
        check("e[test=held_out]", json!({ "seed": 0 }), Some("0"));
        check("e[test=held_out]", json!({ "seed": "a" }), Some("a"));
        check("e[test=held_out]", json!({ "seed": null }), None);
        check("e", json!({}), None);
    }
}
