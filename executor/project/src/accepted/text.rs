//! The text of `accepted.lock`.
//!
//! # Format, version 1
//! YAML, one line a change of code, sorted by name, so that git merges it line by line. The name is the kind of stage and
//! the beginning of a digest of the change itself. Everything is quoted: a bare digest such as `12e4567` would be a number.
//!
//! ```yaml
//! cwm-accepted: 1
//! "split 9f31c06a44d2": {"kind": "split", "code": {"base": ["1a…", "7b…"], "crate cwm-split": ["c0…", "3d…"]}, "by": …}
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use super::AcceptedChange;
use crate::line_file::{Content, Format, lines};
use cwm_core::files::Result;

const FORMAT: Format = Format { name: "cwm-accepted", what: "accepted changes", version: 1 };

const INTRODUCTION: &str = "\
# Changes of code that change no result, as given to `cwm accept`; kept in git. In a merge conflict both sides will do.
";

/// The text of a file that holds these.
pub fn write(aliases: &BTreeMap<String, AcceptedChange>) -> String {
    let mut text = format!("{INTRODUCTION}cwm-accepted: {}\n", FORMAT.version);
    for (name, alias) in aliases {
        let line = serde_json::to_string(alias).unwrap_or_default();
        text += &format!("{}: {line}\n", serde_json::Value::from(name.as_str()));
    }
    text
}

/// Parses `text`, which `path` held, by name, with warnings.
///
/// # Errors
/// A newer cwm wrote it.
pub fn parse(path: &Path, text: &str) -> Result<(BTreeMap<String, AcceptedChange>, Vec<String>)> {
    let mut aliases = BTreeMap::new();
    let mut warnings = Vec::new();
    for line in lines(path, text, &FORMAT)? {
        let problem = match line.content {
            Content::Version(true) => continue,
            Content::Version(false) => "this is not a format version; the line is ignored".to_owned(),
            Content::Conflict => "a merge conflict: both sides are taken".to_owned(),
            Content::Entry => match read(line.text) {
                Ok((name, alias)) => {
                    aliases.entry(name).or_insert(alias);
                    continue;
                }
                Err(problem) => format!("{problem}; the line is ignored"),
            },
        };
        warnings.push(format!("{}:{}: {problem}", path.display(), line.number));
    }
    Ok((aliases, warnings))
}

fn read(line: &str) -> Result<(String, AcceptedChange), String> {
    let one: BTreeMap<String, AcceptedChange> = serde_json::from_str(&format!("{{{line}}}"))
        .map_err(|error| format!("this is not an accepted change of code ({error})"))?;
    match Vec::from_iter(one).pop() {
        // A line that was edited would accept something else than its name says.
        Some((name, alias)) if alias.name() == name => Ok((name, alias)),
        _ => Err("its name is not that of its content".to_owned()),
    }
}
