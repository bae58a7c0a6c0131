//! The body of a request.

use std::collections::BTreeMap;

use cwm_contract::{Failure, Value};
use serde_json::{Value as Json, json};

use crate::config::Config;
use crate::question::Prompt;

/// Makes the bodies of all questions.
pub struct Requests {
    fields: BTreeMap<String, Json>,
}

impl Requests {
    /// The requests of the parameters.
    ///
    /// # Errors
    /// A value of `extra` cannot be sent.
    pub fn new(config: &Config) -> Result<Self, Failure> {
        let mut fields = BTreeMap::from([
            ("model".to_owned(), json!(config.model)),
            (config.max_tokens_field.clone(), json!(config.max_tokens)),
        ]);
        fields.extend(config.temperature.map(|temperature| ("temperature".to_owned(), json!(temperature))));
        if config.reasoning != "none" {
            fields.insert("reasoning_effort".to_owned(), json!(config.reasoning));
        }
        for (name, value) in &config.extra {
            fields.insert(
                name.clone(),
                json_of(value).map_err(|wrong| Failure::input(format!("parameter `extra`, `{name}`: {wrong}")))?,
            );
        }
        Ok(Requests { fields })
    }

    /// The text of all that an answer depends on, and so neither of the server nor of how the answer is sent.
    pub fn identity(&self, prompt: &Prompt) -> String {
        json_text(&self.with(prompt))
    }

    /// The body of a request, whose answer comes in pieces.
    pub fn body(&self, prompt: &Prompt) -> String {
        let mut fields = self.with(prompt);
        fields.insert("stream", json!(true));
        fields.insert("stream_options", json!({ "include_usage": true }));
        json_text(&fields)
    }

    fn with(&self, prompt: &Prompt) -> BTreeMap<&str, Json> {
        let mut fields: BTreeMap<&str, Json> =
            self.fields.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let system = prompt.system.iter().map(|system| json!({ "role": "system", "content": system }));
        let messages: Vec<Json> = system.chain([json!({ "role": "user", "content": prompt.user })]).collect();
        fields.insert("messages", json!(messages));
        fields
    }
}

fn json_text(fields: &BTreeMap<&str, Json>) -> String {
    json!(fields).to_string()
}

fn json_of(value: &Value) -> Result<Json, String> {
    match value {
        Value::Int(_) | Value::Float(_) => {
            let number = serde_json::to_value(value).map_err(|error| error.to_string())?;
            if number.is_number() { Ok(number) } else { Err(format!("{value} is no number of JSON")) }
        }
        Value::List(items) => items.iter().map(json_of).collect::<Result<_, _>>().map(Json::Array),
        Value::Map(map) => map
            .iter()
            .map(|(name, item)| Ok((name.clone(), json_of(item)?)))
            .collect::<Result<_, _>>()
            .map(Json::Object),
        Value::Null | Value::Bool(_) | Value::Text(_) => serde_json::to_value(value).map_err(|error| error.to_string()),
    }
}
