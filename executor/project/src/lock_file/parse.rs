//! Reads a lock file, also one with merge conflicts or with lines that are not what they should be.

use std::path::Path;

use super::{LOCK_FILE_FORMAT, LockFile, LockLine, LockWarning};
use crate::line_file::{Content, Format, lines};
use cwm_core::files::Result;

const FORMAT: Format = Format { name: "cwm-lock", what: "the lock file", version: LOCK_FILE_FORMAT };

/// Reads a text that `path` holds or held.
pub(super) fn parse(path: &Path, text: &str) -> Result<LockFile> {
    let mut file = LockFile { path: path.to_owned(), ..LockFile::default() };
    let mut has_version = false;
    let warning =
        |line: usize, message: String, is_lost: bool| LockWarning { path: path.to_owned(), line, message, is_lost };
    for line in lines(path, text, &FORMAT)? {
        let mut warn = |message: String, is_lost: bool| file.warnings.push(warning(line.number, message, is_lost));
        match line.content {
            Content::Conflict => {
                let side = line.text.trim_start_matches('<').trim();
                let rule = format!("for cells that both sides have, the first side is taken (`{side}`)");
                warn(format!("a merge conflict: {rule}"), false);
            }
            Content::Version(true) => has_version = true,
            Content::Version(false) => warn("this is not a format version; the line is ignored".into(), true),
            Content::Entry => match parse_cell(line.text) {
                // In a conflict the first side is taken; twice without one is a mistake, and again the first is taken.
                Ok((label, cell)) if file.cells.contains_key(&label) => {
                    file.passed_over.push(cell);
                    if !line.in_conflict {
                        warn(format!("`{label}` is here a second time; the line is ignored"), false);
                    }
                }
                Ok((label, cell)) => _ = file.cells.insert(label, cell),
                Err(problem) => {
                    warn(format!("this is not a cell with its key and outputs ({problem}); the line is ignored"), true);
                }
            },
        }
    }
    if !has_version {
        let message = match text.trim().is_empty() {
            true => "the file is empty, as cwm never leaves it: what it said is lost".to_owned(),
            false => format!("`cwm-lock: {LOCK_FILE_FORMAT}` is missing"),
        };
        file.warnings.push(warning(1, message, false));
    }
    Ok(file)
}

/// Reads a line: the inside of a JSON object with one member.
fn parse_cell(line: &str) -> Result<(String, LockLine), serde_json::Error> {
    let mut label = serde_json::Deserializer::from_str(line).into_iter::<String>();
    let name = label.next().transpose()?.unwrap_or_default();
    let rest = line[label.byte_offset()..].trim_start();
    Ok((name, serde_json::from_str(rest.strip_prefix(':').unwrap_or_default())?))
}
