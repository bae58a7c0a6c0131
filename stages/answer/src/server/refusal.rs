//! Faults by the status and the message of a server's refusal.

use std::time::Duration;

use cwm_contract::{Failure, escape_characters, is_hidden};
use serde_json::Value;

use super::key::ServerKey;
use super::server_error::{ServerError, TransientError};

/// The most characters of a server's text in a message.
const MAX_TEXT_CHARS: usize = 300;

/// The fault of a response with another status than 200.
pub fn of_status(
    status: &str,
    code: u16,
    location: Option<&str>,
    after: Option<Duration>,
    body: &[u8],
    key: &ServerKey,
) -> ServerError {
    let text = String::from_utf8_lossy(body);
    let object: Option<Value> = serde_json::from_str(&text).ok();
    let error = object.as_ref().map(|object| object.get("error").unwrap_or(object));
    let words =
        error.and_then(message).map_or_else(|| printable_text(&text, key), |message| printable_text(&message, key));
    let sentence = match words.as_str() {
        "" => format!("the server answers {status}"),
        words => format!("the server answers {status}: {words}"),
    };
    if (300..400).contains(&code) {
        let target = location.map(|location| printable_text(location, key)).unwrap_or_default();
        return ServerError::Fatal(
            Failure::input(format!("the server redirects to `{target}`")).hint("give the API's own address as `url`"),
        );
    }
    let kind = error.map(kind).unwrap_or_default();
    if code == 400 && is_too_long(&kind, &words) {
        return ServerError::TooLong(Failure::input(sentence));
    }
    let is_used_up = code == 429 && (kind == "insufficient_quota" || (after.is_none() && words.contains("quota")));
    if is_transient(code) && !is_used_up {
        let fault = if code == 429 { "rate_limit" } else { "server_error" };
        return ServerError::Transient(TransientError {
            fault,
            message: sentence,
            retry_after: after,
            is_shared: true,
            usage: Box::default(),
        });
    }
    let failure = Failure::input(sentence);
    match code {
        401 | 403 => ServerError::Key(failure),
        404 => ServerError::Fatal(
            failure.hint("look whether `url` is that of the API (most end in /v1) and whether it has this `model`"),
        ),
        _ => ServerError::Fatal(failure),
    }
}

/// The fault of an error that comes as a response of status 200 or in a stream; `json` is all of the object.
pub fn of_object(error: &Value, json: &[u8], key: &ServerKey) -> ServerError {
    let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    match code.filter(|code| (400..600).contains(code)) {
        Some(code) => of_status(&format!("error {code}"), code, None, None, json, key),
        None => {
            let words = message(error).map(|message| printable_text(&message, key)).unwrap_or_default();
            if is_too_long(&kind(error), &words) {
                return ServerError::TooLong(Failure::input(format!("the server reports an error: {words}")));
            }
            ServerError::transient("server_error", format!("the server reports an error: {words}"))
        }
    }
}

/// A server's text without the key, cut to one line that is safe for a terminal.
pub fn printable_text(text: &str, key: &ServerKey) -> String {
    // Before the cut, which could leave a part of the key.
    let text = key.redact(text.to_owned());
    let line: Vec<&str> = text.split_whitespace().take(MAX_TEXT_CHARS).collect();
    let line = line.join(" ");
    let mut short: String = line.chars().take(MAX_TEXT_CHARS).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    escape_characters(&short, is_hidden)
}

fn is_transient(code: u16) -> bool {
    matches!(code, 408 | 409 | 425 | 429 | 500..=599)
}

fn is_too_long(kind: &str, words: &str) -> bool {
    let words = words.to_lowercase();
    kind == "context_length_exceeded"
        || (words.contains("context")
            && ["length", "window", "too long", "exceed"].iter().any(|word| words.contains(word)))
}

/// The message of an error.
fn message(error: &Value) -> Option<String> {
    match error {
        Value::String(text) => Some(text.clone()),
        _ => ["message", "detail"].iter().find_map(|name| error.get(name)).map(|found| match found {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }),
    }
}

/// The kind of an error, if the server names one.
fn kind(error: &Value) -> String {
    let named = ["code", "type"].iter().filter_map(|name| error.get(name)?.as_str());
    let known = ["insufficient_quota", "context_length_exceeded"];
    named.filter(|name| known.contains(name)).map(str::to_owned).next().unwrap_or_default()
}
