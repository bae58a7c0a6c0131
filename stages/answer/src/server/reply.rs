//! A response, put together from its pieces.

use cwm_answers::is_cost;
use serde_json::Value;

use super::key::ServerKey;
use super::refusal::printable_text;
use super::server_error::ServerError;
use crate::entry::Usage;

/// The part of an answer that has arrived.
#[derive(Debug, Default, PartialEq)]
pub struct Reply {
    /// The visible text.
    pub content: String,
    /// The reasoning, if it came apart.
    pub reasoning: Option<String>,
    /// The reason why the text ends.
    pub finish: Option<String>,
    /// The tokens and the cost that the server reports.
    pub usage: Usage,
    /// True if the server sent a cost or a count that is none.
    pub has_bad_usage: bool,
    /// The model as the server names it.
    pub served: Option<String>,
    /// Pieces with text: about as many tokens.
    pub pieces: u64,
    /// True if the text is there, even if it is empty.
    has_text: bool,
}

impl Reply {
    /// Takes one object of the response: a chunk of a stream, or the whole. Returns true if it brought text.
    ///
    /// # Errors
    /// It is no object of this API, or an error.
    pub fn take(&mut self, json: &[u8], key: &ServerKey) -> Result<bool, ServerError> {
        let object = parse(json).ok_or_else(|| {
            let text = printable_text(&String::from_utf8_lossy(json), key);
            ServerError::transient("unreadable", format!("the server sent no JSON: {text}"))
        })?;
        if let Some(error) = object.get("error").filter(|error| !error.is_null()) {
            return Err(super::refusal::of_object(error, json, key));
        }
        if self.served.is_none() {
            self.served = object.get("model").and_then(Value::as_str).map(str::to_owned);
        }
        if let Some(usage) = object.get("usage").filter(|usage| usage.is_object()) {
            self.take_usage(usage);
        }
        let Some(choice) = object.get("choices").and_then(|choices| choices.get(0)) else { return Ok(false) };
        // Some servers send an empty one with every piece.
        if let Some(finish) = choice.get("finish_reason").and_then(Value::as_str).filter(|finish| !finish.is_empty()) {
            self.finish = Some(finish.to_owned());
        }
        let Some(message) = choice.get("delta").or_else(|| choice.get("message")) else { return Ok(false) };
        let mut has_text = false;
        if let Some(text) = message.get("content").and_then(text) {
            self.has_text = true;
            has_text |= !text.is_empty();
            self.content += &text;
        }
        // One and the same reasoning may come under several names.
        let fields = ["reasoning_content", "reasoning", "reasoning_details"];
        if let Some(text) =
            fields.iter().find_map(|name| message.get(*name).and_then(text).filter(|text| !text.is_empty()))
        {
            has_text = true;
            self.reasoning.get_or_insert_default().push_str(&text);
        }
        self.pieces += u64::from(has_text);
        Ok(has_text)
    }

    /// Bytes of text.
    pub fn length(&self) -> usize {
        self.content.len() + self.reasoning.as_ref().map_or(0, String::len)
    }

    /// True if the text has come to its end.
    pub fn is_whole(&self) -> bool {
        self.finish.is_some()
    }

    /// Checks that there is an answer: text, or the reason `length`, if the tokens were used up before it.
    ///
    /// # Errors
    /// There is none.
    pub fn check(&self) -> Result<(), ServerError> {
        match (self.has_text, self.finish.as_deref()) {
            (true, _) | (false, Some("length")) => Ok(()),
            (false, Some(_)) => Err(ServerError::transient("no_content", "the server sent an answer without content")),
            (false, None) => {
                Err(ServerError::transient("no_content", "the server sent no answer (`choices` is empty)"))
            }
        }
    }

    fn take_usage(&mut self, usage: &Value) {
        let mut is_bad = false;
        let mut count = |value: Option<&Value>| {
            let value = value.filter(|value| !value.is_null())?;
            let number = value.as_u64();
            is_bad |= number.is_none();
            number
        };
        self.usage.prompt_tokens = count(usage.get("prompt_tokens"));
        self.usage.completion_tokens = count(usage.get("completion_tokens"));
        self.usage.total_tokens = count(usage.get("total_tokens"));
        self.usage.reasoning_tokens =
            count(usage.get("completion_tokens_details").and_then(|details| details.get("reasoning_tokens")));
        let cost = usage.get("cost").filter(|cost| !cost.is_null());
        self.usage.cost = cost.and_then(Value::as_f64).filter(|cost| is_cost(*cost));
        self.has_bad_usage |= is_bad || cost.is_some() != self.usage.cost.is_some();
    }
}

/// The text of a value: a text, or a list of parts with texts.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => Some(parts.iter().filter_map(|part| part.get("text")?.as_str()).collect()),
        _ => None,
    }
}

/// Numbers that JSON does not have, as servers in Python write them.
const NO_NUMBERS: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// Reads JSON. Of what some servers send, halves of surrogate pairs become U+FFFD, and numbers that are none become texts.
fn parse(json: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(json);
    let read = serde_json::from_str(&text);
    let read = read.or_else(|_| serde_json::from_str(&without_lone_surrogates(&with_quoted_numbers(&text))));
    read.ok().filter(Value::is_object)
}

/// Numbers that JSON does not have become texts.
fn with_quoted_numbers(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let (mut rest, mut is_in_text) = (text, false);
    while let Some(first) = rest.chars().next() {
        let number = NO_NUMBERS.into_iter().find(|number| !is_in_text && rest.starts_with(*number));
        let length = match number {
            Some(number) => number.len(),
            None if first == '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            None => first.len_utf8(),
        };
        is_in_text ^= first == '"';
        let (piece, left) = rest.split_at(length);
        match number {
            Some(number) => clean.extend(["\"", number, "\""]),
            None => clean.push_str(piece),
        }
        rest = left;
    }
    clean
}

fn without_lone_surrogates(text: &str) -> String {
    let unit = |at: usize| {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut clean = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(found) = text[at..].find('\\') {
        clean += &text[at..at + found];
        at += found;
        let length = match unit(at) {
            Some(0xD800..=0xDBFF) if matches!(unit(at + 6), Some(0xDC00..=0xDFFF)) => 12,
            Some(0xD800..=0xDFFF) => {
                clean += "\\ufffd";
                at += 6;
                continue;
            }
            _ => 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        };
        clean += &text[at..at + length];
        at += length;
    }
    clean + &text[at..]
}
