//! The training of a model, as the header of a scores file has it.

use cwm_contract::{Failure, Label};
use serde_json::{Map, Value};

/// The columns of `overall.parquet` about the training; what the scores do not have is unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Training {
    /// The end of the training, such as `finished` or `diverged`.
    pub(crate) status: Option<String>,
    /// Games trained on.
    pub(crate) games: Option<u64>,
    /// Batches drawn.
    pub(crate) steps: Option<u64>,
    /// Passes over the games: steps by steps of an epoch.
    pub(crate) epochs: Option<f64>,
    /// Highest learning rate.
    pub(crate) lr: Option<f64>,
    /// Steps until it is reached.
    pub(crate) warmup: Option<u64>,
    /// Decay of the optimiser's second moment.
    pub(crate) beta2: Option<f64>,
    pub(crate) weight_decay: Option<f64>,
    /// Share of the highest learning rate to which it falls, where it falls at all.
    pub(crate) lr_floor: Option<f64>,
    /// The weights that were scored, where they are not the last: `best`.
    pub(crate) checkpoint: Option<String>,
    /// True if it was validated on games of the test set.
    pub(crate) validated_on_test: Option<bool>,
}

impl Training {
    /// Reads the training from the file's `cwm.model`.
    ///
    /// # Errors
    /// One of its values has the wrong type.
    pub(crate) fn of(label: &Label, model: &Map<String, Value>) -> Result<Self, Failure> {
        let wrong = |key: &str, wanted: &str, found: &Value| {
            Failure::input(format!("`{key}` of the model in the scores of {label} must be {wanted}, not {found}"))
        };
        let count = |key: &str| match model.get(key) {
            Some(Value::Null) | None => Ok(None),
            Some(value) => value.as_u64().map(Some).ok_or_else(|| wrong(key, "a count", value)),
        };
        let text = |key: &str| match model.get(key) {
            Some(Value::Null) | None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(wrong(key, "text", other)),
        };
        // Another program may call by these names what is no number: then it is not one that stands beside the paper's.
        let number = |key: &str| model.get(key).and_then(Value::as_f64);
        let falls = model.get("schedule").and_then(Value::as_str) != Some("constant");
        let steps = count("steps")?;
        let epochs = steps.zip(count("steps_per_epoch")?.filter(|steps| *steps > 0));
        let epochs = epochs.map(|(steps, in_one)| steps as f64 / in_one as f64);
        Ok(Training {
            status: text("status")?,
            games: count("games")?,
            steps,
            epochs,
            lr: number("lr"),
            warmup: model.get("warmup").and_then(Value::as_u64),
            beta2: number("beta2"),
            weight_decay: number("weight_decay"),
            lr_floor: number("lr_floor").filter(|_| falls),
            checkpoint: text("checkpoint")?,
            validated_on_test: model.get("validated_on_test").and_then(Value::as_bool),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn training(model: &str) -> Result<Training, String> {
        Training::of(&Label::stage("e"), &serde_json::from_str(model).unwrap()).map_err(|failure| failure.message)
    }

    #[test]
    fn epochs_are_steps_by_steps_of_one() {
        let found = training(r#"{"status":"diverged","games":90,"steps":15,"steps_per_epoch":6}"#);
        let expected = Training {
            status: Some("diverged".into()),
            games: Some(90),
            steps: Some(15),
            epochs: Some(2.5),
            ..Training::default()
        };
        assert_eq!(found, Ok(expected));
    }

    #[test]
    fn hyper_parameters_are_read_and_no_floor_to_which_nothing_falls() {
        let json = r#"{"lr":3e-3,"warmup":100,"beta2":0.95,"weight_decay":0,"lr_floor":0.1,"schedule":"cosine"}"#;
        let expected = Training {
            lr: Some(0.003),
            warmup: Some(100),
            beta2: Some(0.95),
            weight_decay: Some(0.0),
            lr_floor: Some(0.1),
            ..Training::default()
        };
        assert_eq!(training(json), Ok(expected.clone()));
        assert_eq!(training(&json.replace("cosine", "constant")), Ok(Training { lr_floor: None, ..expected }));
        assert_eq!(training(r#"{"lr":"much","warmup":0.1,"beta2":[0.9]}"#), Ok(Training::default()));
    }

    #[test]
    fn departures_are_reported() {
        let found = training(r#"{"checkpoint":"best","validated_on_test":true}"#).unwrap();
        assert_eq!((found.checkpoint.as_deref(), found.validated_on_test), (Some("best"), Some(true)));
    }

    #[test]
    fn what_is_not_given_is_unknown() {
        assert_eq!(training("{}"), Ok(Training::default()));
        let found = training(r#"{"status":null,"steps":5,"steps_per_epoch":0}"#).unwrap();
        assert_eq!((found.steps, found.epochs), (Some(5), None));
    }

    #[test]
    fn what_is_wrong_is_reported() {
        let check = |model: &str, message: &str| assert_eq!(training(model).unwrap_err(), message);
        check(r#"{"status":1}"#, "`status` of the model in the scores of e must be text, not 1");
        check(r#"{"games":-1}"#, "`games` of the model in the scores of e must be a count, not -1");
        check(r#"{"steps":"x"}"#, "`steps` of the model in the scores of e must be a count, not \"x\"");
    }
}
