//! Small JSON files.

use std::io::Read;
use std::path::Path;

use cwm_contract::Failure;
use serde_json::{Map, Value};

/// No file of ours that is read as a whole is larger: 16 MiB.
const LARGEST: u64 = 16 << 20;

/// The object that a file of format `format` holds.
pub fn read_object(path: &Path, format: &str) -> Result<Map<String, Value>, Failure> {
    let wrong = |what: String| Failure::input(format!("{} is not a {format} file: {what}", path.display()));
    let mut text = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| Failure::io("read", path, error))?;
    file.take(LARGEST + 1).read_to_end(&mut text).map_err(|error| Failure::io("read", path, error))?;
    if text.len() as u64 > LARGEST {
        return Err(wrong(format!("it is longer than {} MiB", LARGEST >> 20)));
    }
    match serde_json::from_slice(&text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(wrong("it holds no JSON object".into())),
        Err(error) => Err(wrong(error.to_string())),
    }
}
