//! Grades one line of input and returns its reward as JSON.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::items::Items;

/// The keys of a line that are read; others are ignored.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Request<'l> {
    #[serde(borrow)]
    task_id: Text<'l>,
    #[serde(borrow)]
    text: Text<'l>,
}

/// A reward, as it is written.
#[derive(Serialize)]
struct Reward {
    reward: f64,
    verdict: &'static str,
    score: Option<f64>,
}

/// The answer to the line of this number, with its line end.
pub fn answer(items: &Items, line: &[u8], number: u64) -> Vec<u8> {
    let written = match judge(items, line) {
        Ok(reward) => serde_json::to_vec(&reward),
        Err(wrong) => serde_json::to_vec(&serde_json::json!({ "error": format!("line {number}: {wrong}") })),
    };
    // Numbers and texts can always be written.
    let mut answer = written.unwrap_or_default();
    answer.push(b'\n');
    answer
}

fn judge(items: &Items, line: &[u8]) -> Result<Reward, String> {
    let request: Request<'_> = serde_json::from_slice(line).map_err(|error| {
        // Its number stands before.
        let error = error.to_string().replace(" at line 1 column ", " at column ");
        format!("not an object with the texts `task_id` and `text`: {error}")
    })?;
    let judged = items
        .judge(&request.task_id.0, &request.text.0)
        .ok_or_else(|| format!("{:?} is none of the items", request.task_id.0))?;
    Ok(Reward { reward: judged.reward, verdict: judged.verdict.name(), score: judged.score })
}

/// A text of JSON, which may have half a surrogate pair, as Python writes it: that becomes U+FFFD.
struct Text<'l>(Cow<'l, str>);

impl<'l, 'de: 'l> Deserialize<'de> for Text<'l> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // As bytes, a text is taken over unchecked.
        deserializer.deserialize_bytes(Bytes)
    }
}

struct Bytes;

impl<'de> Visitor<'de> for Bytes {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Text<'de>, E> {
        Ok(Text(String::from_utf8_lossy(bytes)))
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(String::from_utf8_lossy(bytes).into_owned())))
    }
}
