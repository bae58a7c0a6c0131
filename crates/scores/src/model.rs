//! The model and the test set of a scores file.

use cwm_contract::{Failure, Label};
use serde_json::{Map, Value};

/// The test set of scores without a name of theirs: held-out games, as in most evaluations.
const DEFAULT_TEST_SET: &str = "held_out";

/// The model and the test set of a scores file. Each value is the file's own, from its `cwm.model`; if the file does not
/// have it (scores of other programs may not), it is the label's coordinate of that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoredModel {
    /// Model family, such as `transformer`.
    pub family: String,
    /// Size, such as `d128/l1`.
    pub size: String,
    /// Seed of the training, if it is known.
    pub seed: Option<i64>,
    /// Name of the test set; `held_out` if it has none.
    pub test: String,
    /// True if the test set has a name in the file or in the label.
    pub test_is_named: bool,
}

impl ScoredModel {
    /// The model and the test set of the scores of `label`; `model` is the object under `cwm.model`.
    ///
    /// # Errors
    /// A value has the wrong type, or neither the file nor the label has a family or a size.
    pub fn of(label: &Label, model: &Map<String, Value>) -> Result<Self, Failure> {
        let in_file = |key: &str| model.get(key).filter(|value| !value.is_null());
        let wrong = |key: &str, wanted: &str, found: &dyn std::fmt::Display| {
            Failure::input(format!("`{key}` of the model in the scores of {label} must be {wanted}, not {found}"))
        };
        let text = |key: &str| match (in_file(key), label.coordinate(key)) {
            (Some(Value::String(text)), _) => Ok(Some(text.clone())),
            (Some(other), _) => Err(wrong(key, "text", other)),
            (None, coordinate) => Ok(coordinate.map(str::to_owned)),
        };
        let seed = match (in_file("seed"), label.coordinate("seed")) {
            (Some(value), _) => Some(value.as_i64().ok_or_else(|| wrong("seed", "an integer", value))?),
            (None, Some(text)) => Some(text.parse().map_err(|_| wrong("seed", "an integer", &text))?),
            (None, None) => None,
        };
        let test = text("test")?;
        Ok(ScoredModel {
            family: text("family")?.ok_or_else(|| missing(label, "family", "name"))?,
            size: text("size")?.ok_or_else(|| missing(label, "size", "size"))?,
            seed,
            test_is_named: test.is_some(),
            test: test.unwrap_or_else(|| DEFAULT_TEST_SET.to_owned()),
        })
    }
}

/// The failure of scores without `key`, which `parameter` of the stage `evaluate` sets for predictions.
fn missing(label: &Label, key: &str, parameter: &str) -> Failure {
    Failure::input(format!("the scores of {label} have no {key} of their model")).hint(format!(
        "set `{parameter}` in `with:` of the stage `evaluate` that scores these predictions, write `{key}` into `cwm.model` of \
         the Parquet file, or give the stage an axis `{key}`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(label: &str, model: &str) -> Result<ScoredModel, Failure> {
        ScoredModel::of(&label.parse().unwrap(), &serde_json::from_str(model).unwrap())
    }

    #[test]
    fn the_file_comes_before_the_label_in_all_of_them() {
        let label = "evaluation[family=gru,size=d9/l9,seed=7,test=a]";
        let found = scored(label, r#"{"family":"slice","size":"d32/l1","seed":3,"test":"b"}"#).unwrap();
        let expected = ScoredModel {
            family: "slice".into(),
            size: "d32/l1".into(),
            seed: Some(3),
            test: "b".into(),
            test_is_named: true,
        };
        assert_eq!(found, expected);
        let of_label = ScoredModel {
            family: "gru".into(),
            size: "d9/l9".into(),
            seed: Some(7),
            test: "a".into(),
            test_is_named: true,
        };
        for without in ["{}", r#"{"family":null,"size":null,"seed":null,"test":null}"#] {
            assert_eq!(scored(label, without).unwrap(), of_label);
        }
    }

    #[test]
    fn held_out_games_are_the_default_and_a_seed_may_be_unknown() {
        let found = scored("e", r#"{"family":"f","size":"s"}"#).unwrap();
        assert_eq!((found.test.as_str(), found.test_is_named, found.seed), ("held_out", false, None));
    }

    #[test]
    fn wrong_types_are_reported() {
        let check = |label: &str, model: &str, message: &str| {
            assert_eq!(scored(label, model).unwrap_err().message, message);
        };
        check("e", r#"{"family":1,"size":"d"}"#, "`family` of the model in the scores of e must be text, not 1");
        check(
            "e",
            r#"{"family":"a","size":"d","test":[]}"#,
            "`test` of the model in the scores of e must be text, not []",
        );
        check(
            "e",
            r#"{"family":"a","size":"d","seed":"x"}"#,
            "`seed` of the model in the scores of e must be an integer, not \"x\"",
        );
        check(
            "e[seed=x]",
            r#"{"family":"a","size":"d"}"#,
            "`seed` of the model in the scores of e[seed=x] must be an integer, not x",
        );
    }

    #[test]
    fn a_missing_family_is_an_error_that_names_the_parameter_name() {
        let failure = scored("e[size=d8/l1]", "{}").unwrap_err();
        assert_eq!(failure.message, "the scores of e[size=d8/l1] have no family of their model");
        assert!(failure.hint.unwrap().starts_with("set `name` in `with:` of the stage `evaluate`"));
        let failure = scored("e[family=slice]", "{}").unwrap_err();
        assert_eq!(failure.message, "the scores of e[family=slice] have no size of their model");
        assert!(failure.hint.unwrap().starts_with("set `size` in `with:`"));
    }
}
