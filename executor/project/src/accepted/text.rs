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
use cwm_core::Error;

/// Version of this format.
const FORMAT: u64 = 1;

const INTRODUCTION: &str = "\
# Changes of code that change no result, as `cwm accept` was told; kept in git. In a merge conflict both sides will do.
";

/// The text of a file that holds these.
pub fn write(aliases: &BTreeMap<String, AcceptedChange>) -> String {
    let mut text = format!("{INTRODUCTION}cwm-accepted: {FORMAT}\n");
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
pub fn parse(path: &Path, text: &str) -> Result<(BTreeMap<String, AcceptedChange>, Vec<String>), Error> {
    let mut aliases = BTreeMap::new();
    let mut warnings = Vec::new();
    let mut in_base = false;
    for (index, line) in text.lines().enumerate() {
        let marker =
            |marker: &str| line.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        let mut warn = |what: &str| {
            warnings.push(format!("{}:{}: {what}; the line is ignored", path.display(), index + 1));
        };
        if marker("<<<<<<<") || marker("=======") || marker(">>>>>>>") || marker("|||||||") {
            // What both sides were made from counts where they still have it.
            in_base = marker("|||||||");
            if marker("<<<<<<<") {
                warnings.push(format!("{}:{}: a merge conflict: both sides are taken", path.display(), index + 1));
            }
            continue;
        }
        let line = line.trim();
        if in_base || line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(version) = line.strip_prefix("cwm-accepted:") {
            match version.trim().parse::<u64>() {
                Ok(found) if found > FORMAT => {
                    let problem = format!("{} has format {found}; this cwm knows {FORMAT}", path.display());
                    return Err(Error::usage(problem).hint("a newer cwm wrote it: use that one"));
                }
                Ok(_) => {}
                Err(_) => warn("this is not a format version"),
            }
            continue;
        }
        match serde_json::from_str::<BTreeMap<String, AcceptedChange>>(&format!("{{{line}}}")) {
            Ok(mut one) if one.len() == 1 => {
                let Some((name, alias)) = one.pop_first() else { continue };
                // A line that was edited would accept something else than its name says.
                if alias.name() == name {
                    aliases.entry(name).or_insert(alias);
                } else {
                    warn("its name is not that of what it says");
                }
            }
            Ok(_) => warn("this is not one change of code"),
            Err(error) => warn(&format!("this is no change of code ({error})")),
        }
    }
    Ok((aliases, warnings))
}
