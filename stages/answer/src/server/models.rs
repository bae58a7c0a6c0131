//! Looks at the server before anything is paid.

use std::sync::Arc;

use cwm_contract::{Context, Failure};
use cwm_web::in_background;
use serde_json::Value;

use super::attempt::{Connection, located};
use super::server_error::ServerError;

/// The most models that a message names.
const MOST_NAMED: usize = 10;

/// Checks that the server can be reached, takes the key, and has the model.
///
/// # Errors
/// It cannot, does not, or lists other models.
pub fn check(context: &Context, connection: &Arc<Connection>, model: &str, key_variable: &str) -> Result<(), Failure> {
    let asked = connection.clone();
    match in_background(context.cancellation(), move || asked.models())? {
        Ok(list) => check_list(context, connection, &list, model),
        // Of a refusal only one of the key concerns questions too.
        Err(ServerError::Key(failure)) => Err(with_key_hint(connection, failure, key_variable)),
        Err(ServerError::Transient(again)) if again.fault == "unreachable" || again.fault == "silent" => {
            let failure = Failure::system(again.message).hint("start the server, or give its address as `url`");
            Err(located(connection, failure))
        }
        Err(ServerError::Fatal(failure)) if failure.kind == cwm_contract::FailureKind::System => {
            Err(located(connection, failure))
        }
        Err(_) => {
            context.note(format!("{} does not list its models, so `{model}` is not looked for", connection.url));
            Ok(())
        }
    }
}

/// A failure because of the key, with the URL and advice on the key.
pub fn with_key_hint(connection: &Connection, failure: Failure, key_variable: &str) -> Failure {
    located(connection, failure).hint(match connection.key.is_set() {
        true => format!("the key is the content of the environment variable {key_variable} (parameter `key_variable`)"),
        false => format!("no key was sent: set the environment variable {key_variable} (parameter `key_variable`)"),
    })
}

fn check_list(context: &Context, connection: &Connection, list: &[u8], model: &str) -> Result<(), Failure> {
    let list: Option<Value> = serde_json::from_slice(list).ok();
    let models = list.as_ref().and_then(|list| list.get("data")?.as_array());
    let ids: Vec<&str> = models.into_iter().flatten().filter_map(|model| model.get("id")?.as_str()).collect();
    if ids.is_empty() {
        context.note(format!("{} lists no models, so `{model}` is not looked for", connection.url));
        return Ok(());
    }
    // Ollama lists `qwen3:latest` for `qwen3`; OpenRouter takes `model:variant` and lists `model`.
    let names = [model.to_owned(), format!("{model}:latest"), model.split(':').next().unwrap_or_default().to_owned()];
    if ids.iter().any(|id| names.iter().any(|name| name == id)) {
        return Ok(());
    }
    let mut named = ids[..ids.len().min(MOST_NAMED)].join(", ");
    if ids.len() > MOST_NAMED {
        named += &format!(" and {} more", ids.len() - MOST_NAMED);
    }
    let failure = Failure::input(format!("the server has no model `{model}`"))
        .hint(format!("it has {}", super::refusal::printable_text(&named, &connection.key)));
    Err(located(connection, failure))
}
