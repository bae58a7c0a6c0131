//! The model and the test set of a scores file.

use cwm_contract::{Failure, Label};
use serde_json::{Map, Value};

/// The identifying columns of both outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The label as text, such as `evaluation[size=d32/l1,test=held_out]`.
    pub(crate) label: String,
    /// Model family, such as `transformer`.
    pub(crate) family: String,
    /// Size, such as `d128/l1`.
    pub(crate) size: String,
    /// Seed of the training, where it is known.
    pub(crate) seed: Option<i64>,
    /// Number of trained parameters, where it is known.
    pub(crate) parameters: Option<u64>,
    /// The label's `test` coordinate, else its stage.
    pub(crate) test: String,
}

impl Identity {
    /// From the file's `cwm.model`. What that does not say (scores made by other programs may have none) is taken
    /// from the label's coordinates of the same name.
    ///
    /// # Errors
    /// One of its values has the wrong type, or family or size are in neither place.
    pub(crate) fn of(label: &Label, model: &Map<String, Value>) -> Result<Self, Failure> {
        let wrong = |key: &str, wanted: &str, found: &dyn std::fmt::Display| {
            Failure::input(format!("`{key}` of the model in the scores of {label} must be {wanted}, not {found}"))
        };
        let text = |key: &str| match (model.get(key), label.coordinate(key)) {
            (Some(Value::String(text)), _) => Ok(text.clone()),
            (Some(Value::Null) | None, Some(coordinate)) => Ok(coordinate.to_owned()),
            (Some(Value::Null) | None, None) => {
                Err(Failure::input(format!("the scores of {label} have no {key} of their model"))
                    .hint(format!("write it into `cwm.model` of the Parquet file, or give the stage a `{key}` axis")))
            }
            (Some(other), _) => Err(wrong(key, "text", other)),
        };
        let seed = match (model.get("seed"), label.coordinate("seed")) {
            (Some(Value::Null) | None, None) => None,
            (Some(Value::Null) | None, Some(coordinate)) => {
                Some(coordinate.parse().map_err(|_| wrong("seed", "an integer", &coordinate))?)
            }
            (Some(value), _) => Some(value.as_i64().ok_or_else(|| wrong("seed", "an integer", value))?),
        };
        let parameters = match model.get("parameters") {
            Some(Value::Null) | None => None,
            Some(value) => Some(value.as_u64().ok_or_else(|| wrong("parameters", "a count", value))?),
        };
        Ok(Identity {
            label: label.to_string(),
            family: text("family")?,
            size: text("size")?,
            seed,
            parameters,
            test: label.coordinate("test").unwrap_or(&label.stage).to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(label: &str, model: Option<&str>) -> Result<Identity, String> {
        let model = model.map(|text| serde_json::from_str(text).unwrap()).unwrap_or_default();
        Identity::of(&label.parse().unwrap(), &model).map_err(|failure| failure.message)
    }

    #[test]
    fn the_file_comes_before_the_label() {
        let found = identity(
            "evaluation[size=d9/l9,seed=7,test=held_out]",
            Some(r#"{"family":"slice","size":"d32/l1","parameters":12,"seed":3,"steps":10}"#),
        );
        let expected = Identity {
            label: "evaluation[size=d9/l9,seed=7,test=held_out]".into(),
            family: "slice".into(),
            size: "d32/l1".into(),
            seed: Some(3),
            parameters: Some(12),
            test: "held_out".into(),
        };
        assert_eq!(found, Ok(expected));
    }

    #[test]
    fn the_label_says_what_the_file_does_not() {
        let found = identity("shifted[family=slice,size=d32/l1,seed=7]", None).unwrap();
        assert_eq!((found.family.as_str(), found.seed, found.test.as_str()), ("slice", Some(7), "shifted"));
        assert_eq!(found.parameters, None);
    }

    #[test]
    fn what_is_wrong_is_reported() {
        let check = |label: &str, model: Option<&str>, message: &str| {
            assert_eq!(identity(label, model).unwrap_err(), message);
        };
        check("e[family=slice]", None, "the scores of e[family=slice] have no size of their model");
        check("e", Some(r#"{"family":1,"size":"d"}"#), "`family` of the model in the scores of e must be text, not 1");
        check(
            "e[seed=x]",
            Some(r#"{"family":"a","size":"d"}"#),
            "`seed` of the model in the scores of e[seed=x] must be an integer, not x",
        );
        check(
            "e",
            Some(r#"{"family":"a","size":"d","parameters":-1}"#),
            "`parameters` of the model in the scores of e must be a count, not -1",
        );
    }
}
