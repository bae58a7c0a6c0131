//! The identity of a scores file: its label, its model and its test set.

use std::collections::BTreeMap;

use cwm_contract::{Failure, Label};
use cwm_scores::ScoredModel;
use serde_json::{Map, Value};

/// The identifying columns of both outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The label as text, such as `evaluation[size=d32/l1,test=held_out]`.
    pub(crate) label: String,
    pub(crate) model: ScoredModel,
    /// Number of trained parameters, where it is known.
    pub(crate) parameters: Option<u64>,
}

impl Identity {
    /// Reads the identity from the label and the file's `cwm.model`.
    ///
    /// # Errors
    /// One of the values has the wrong type, or family or size are in neither place.
    pub(crate) fn of(label: &Label, model: &Map<String, Value>) -> Result<Self, Failure> {
        let parameters = match model.get("parameters") {
            Some(Value::Null) | None => None,
            Some(value) => Some(value.as_u64().ok_or_else(|| {
                Failure::input(format!(
                    "`parameters` of the model in the scores of {label} must be a count, not {value}"
                ))
            })?),
        };
        Ok(Identity { label: label.to_string(), model: ScoredModel::of(label, model)?, parameters })
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
            let model = &identity.model;
            let key = (&model.family, &model.size, model.seed, &model.test, variant);
            if let Some(other) = found.insert(key, identity)
                && !(model.test_is_named && other.model.test_is_named)
            {
                let (label, ScoredModel { family, test, .. }) = (&identity.label, model);
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
    fn the_number_of_parameters_may_be_unknown() {
        let parameters = |model: &str| identity("e", Some(model)).map(|identity| identity.parameters);
        assert_eq!(parameters(r#"{"family":"f","size":"s","parameters":12}"#), Ok(Some(12)));
        assert_eq!(parameters(r#"{"family":"f","size":"s"}"#), Ok(None));
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
        check(
            "e",
            Some(r#"{"family":"a","size":"d","parameters":-1}"#),
            "`parameters` of the model in the scores of e must be a count, not -1",
        );
    }
}
