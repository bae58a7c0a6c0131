//! Hyper-parameters that a sweep chose (`docs/formats.md`, `choice`), in place of this stage's own.

use std::path::Path;

use cwm_contract::{Context, Failure, Parameters, Value, Values};
use cwm_training::warm_start::{Recipe, files_digest};
use serde::Deserialize;

use crate::config::Config;

/// Version of the files that this code reads.
const FORMAT: u32 = 1;

/// Parameters in which a training and its continuation may differ. Of `horizon`, the resolved value in [`Recipe`]
/// counts.
const MAY_DIFFER: [&str; 4] = ["steps", "epochs", "keep_state", "horizon"];

/// The parameters that may be chosen; all others define what is trained, and on what.
pub const MAY_CHOOSE: [&str; 10] =
    ["batch_size", "beta2", "clip", "dropout", "horizon", "lr", "lr_floor", "schedule", "warmup", "weight_decay"];

#[derive(Deserialize)]
struct Version {
    format: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Choice {
    #[serde(rename = "format")]
    _format: u32,
    family: String,
    size: String,
    parameters: Values,
}

/// Parameters by name, and parsed.
#[derive(Debug)]
pub struct ResolvedConfig {
    /// All of them by name.
    pub values: Values,
    /// The parsed parameters.
    pub config: Config,
}

/// Parameters that are not parsed.
struct RawParameters(Values);

impl Parameters for RawParameters {
    fn specs() -> Vec<cwm_contract::ParameterSpec> {
        Config::specs()
    }

    fn read(values: &Values) -> Result<Self, cwm_contract::ParameterError> {
        Ok(RawParameters(values.clone()))
    }
}

impl ResolvedConfig {
    /// The parameters of this run, those of the input `choice` among them if it is given.
    ///
    /// # Errors
    /// The choice cannot be read, is for another model, or disagrees with a given parameter; or the resulting
    /// parameters have a fault.
    pub fn read(context: &Context) -> Result<Self, Failure> {
        let RawParameters(mut values) = context.parameters()?;
        if let Some(path) = context.optional_input("choice") {
            choose(&mut values, path)?;
        }
        let wrong = |fault: cwm_contract::ParameterError| {
            Failure::input(format!("parameter `{}` {}", fault.parameter, fault.message))
        };
        let config = Config::read(&values).map_err(wrong)?;
        match config.validate().into_iter().next() {
            Some(fault) => Err(wrong(fault)),
            None => Ok(ResolvedConfig { values, config }),
        }
    }

    /// Returns the recipe that a continuation of this run, which has `total_steps` in all, must share with it. Reads
    /// the datasets from beginning to end.
    ///
    /// # Errors
    /// A dataset cannot be read, or the stage was cancelled.
    pub fn recipe(&self, context: &Context, total_steps: u64) -> Result<Recipe, Failure> {
        let unused = self.config.unused_parameters();
        let counts = |name: &str| !MAY_DIFFER.contains(&name) && !unused.contains(&name);
        let parameters = self.values.iter().filter(|(name, _)| counts(name));
        let falls = self.config.hyper.schedule != "constant";
        let validation = context.optional_input("validation");
        Ok(Recipe {
            parameters: parameters.map(|(name, value)| (name.clone(), value.clone())).collect(),
            horizon: falls.then(|| self.config.hyper.horizon.unwrap_or(total_steps)),
            train: files_digest(context, context.input("train")?)?,
            validation: validation.map(|path| files_digest(context, path)).transpose()?,
        })
    }
}

/// Replaces `values` by those that the file at `path` chose.
fn choose(values: &mut Values, path: &Path) -> Result<(), Failure> {
    let wrong = |what: String| Failure::input(format!("input `choice` ({}) {what}", path.display()));
    let text = fs_err::read(path)?;
    let unreadable = |error: serde_json::Error| wrong(format!("is no choice of hyper-parameters: {error}"));
    let Version { format } = serde_json::from_slice(&text).map_err(unreadable)?;
    if format != FORMAT {
        return Err(wrong(format!("has format {format}, this build reads {FORMAT}")));
    }
    let choice: Choice = serde_json::from_slice(&text).map_err(unreadable)?;
    for (name, chosen) in [("family", &choice.family), ("size", &choice.size)] {
        let own = values.get(name).and_then(Value::as_text).unwrap_or_default();
        if own != chosen {
            return Err(wrong(format!("is for {name} `{chosen}`, and this training's is `{own}`")));
        }
    }
    for spec in Config::specs() {
        let Some(chosen) = choice.parameters.get(spec.name).filter(|_| MAY_CHOOSE.contains(&spec.name)) else {
            continue;
        };
        let chosen = spec.kind.normalise(chosen).map_err(|what| wrong(format!("has a `{}` that {what}", spec.name)))?;
        let own = values.get(spec.name).cloned().unwrap_or_default();
        // What equals its default may have been left out.
        if own != chosen && spec.default.is_some_and(|default| default != own) {
            let message = wrong(format!("has `{}` {chosen}, and this training's is given as {own}", spec.name));
            return Err(message.hint(format!("leave out `{}`, or the input `choice`", spec.name)));
        }
        values.insert(spec.name.to_owned(), chosen);
    }
    match choice.parameters.keys().find(|name| !MAY_CHOOSE.contains(&name.as_str())) {
        Some(name) => Err(wrong(format!("has a `{name}`; what can be chosen are {}", MAY_CHOOSE.join(", ")))),
        None => Ok(()),
    }
}
