//! The model and the test set of a scores file.

use std::collections::BTreeMap;

use cwm_contract::{Failure, Label};
use serde_json::{Map, Value};

/// The test set of scores that name none: held-out games, as of most evaluations.
const DEFAULT_TEST_SET: &str = "held_out";

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
    /// The file's name of the test set, else the label's `test` coordinate, else `held_out`.
    pub(crate) test: String,
    /// True if the test set has a name in the file or in the label.
    pub(crate) test_is_named: bool,
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
        let test_is_named = model.get("test").is_some_and(|test| !test.is_null()) || label.coordinate("test").is_some();
        Ok(Identity {
            label: label.to_string(),
            family: text("family")?,
            size: text("size")?,
            seed,
            parameters,
            test: if test_is_named { text("test")? } else { DEFAULT_TEST_SET.to_owned() },
            test_is_named,
        })
    }

    /// Checks that scores without a name of their test set are not taken for another run of the same model on it.
    ///
    /// # Errors
    /// Two are of one model, seed and test set, and one of the two has no name of its test set.
    pub(crate) fn check_test_sets<'a>(all: impl Iterator<Item = &'a Identity>) -> Result<(), Failure> {
        let mut found: BTreeMap<_, &Identity> = BTreeMap::new();
        for identity in all {
            let coordinates = identity.label.parse::<Label>().map(|label| label.coordinates).unwrap_or_default();
            let variant: Vec<_> = coordinates.into_iter().filter(|(axis, _)| axis != "test").collect();
            let key = (&identity.family, &identity.size, identity.seed, &identity.test, variant);
            if let Some(other) = found.insert(key, identity)
                && !(identity.test_is_named && other.test_is_named)
            {
                let Identity { label, family, test, .. } = identity;
                return Err(Failure::input(format!("{} and {label} both score {family} on {test}", other.label))
                    .hint("name the games of one with `with: { test: NAME }` of its stage `evaluate`"));
            }
        }
        Ok(())
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
            test_is_named: true,
        };
        assert_eq!(found, Ok(expected));
    }

    #[test]
    fn the_label_says_what_the_file_does_not() {
        let found = identity("shifted[family=slice,size=d32/l1,seed=7]", None).unwrap();
        assert_eq!((found.family.as_str(), found.seed, found.test.as_str()), ("slice", Some(7), "held_out"));
        assert_eq!(found.parameters, None);
    }

    #[test]
    fn the_name_in_the_file_comes_before_the_axis_and_held_out_games_are_the_default() {
        let test = |label: &str, model: &str| identity(label, Some(model)).unwrap().test;
        assert_eq!(test("e[test=a]", r#"{"family":"f","size":"s","test":"b"}"#), "b");
        assert_eq!(test("e[test=a]", r#"{"family":"f","size":"s","test":null}"#), "a");
        assert_eq!(test("e", r#"{"family":"f","size":"s"}"#), "held_out");
    }

    #[test]
    fn two_unnamed_test_sets_of_one_model_are_an_error() {
        let check = |labels: &[&str]| {
            let all: Vec<_> =
                labels.iter().map(|label| identity(label, Some(r#"{"family":"f","size":"s"}"#)).unwrap()).collect();
            Identity::check_test_sets(all.iter()).map_err(|failure| failure.to_string())
        };
        assert!(check(&["a", "b[test=shift]", "a[seed=1]", "a[lr=0.1]"]).is_ok());
        assert!(check(&["a[test=held_out]", "b[test=held_out]"]).is_ok());
        assert!(check(&["a", "b"]).unwrap_err().starts_with("a and b both score f on held_out"));
        assert!(check(&["a[test=held_out]", "b"]).is_err());
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
