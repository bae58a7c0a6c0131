//! The lock file: which result each cell of a pipeline has, beside the YAML, for git.
//!
//! It knows labels, keys and digests; it knows no plan and no store.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cwm_contract::Label;
use serde::{Deserialize, Serialize};

use crate::digest::{Digest, Key};
use crate::store::durable::Disk;
use crate::store::{Result, StoreError};

/// Version of the format.
pub const LOCK_FILE_FORMAT: u32 = 1;

const INTRODUCTION: &str = "\
# The results that this pipeline stands for; written by `cwm run`, kept in git. In a merge conflict either side will do:
# take one and run again.
";

/// The lock file `<stem>.lock` of a pipeline.
///
/// # Format, version 1
/// YAML, one line a cell, sorted by label, so that git merges it line by line:
///
/// ```yaml
/// cwm-lock: 1
/// "model[size=d32/l1]": {"key": "9f…", "outputs": {"checkpoint": "31…", "curves": "7a…"}}
/// ```
///
/// Everything is quoted: a bare digest such as `12e4567` would be a number. Lines that start with `#` are comments.
#[derive(Clone, Debug, Default)]
pub struct LockFile {
    path: PathBuf,
    cells: BTreeMap<String, LockLine>,
    /// What is on disk.
    text: Option<String>,
    warnings: Vec<LockWarning>,
}

/// What the lock file says about a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockLine {
    /// What it was a result of.
    pub key: Key,
    /// What came out, by output name.
    pub outputs: BTreeMap<String, Digest>,
}

/// Something that was odd in a lock file and was read all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockWarning {
    /// The lock file.
    pub path: PathBuf,
    /// Line number, from 1.
    pub line: usize,
    /// What was odd, and what was done.
    pub message: String,
}

impl fmt::Display for LockWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.message)
    }
}

impl LockFile {
    /// The lock file of the pipeline in `yaml`.
    pub fn path_for(yaml: &Path) -> PathBuf {
        yaml.with_extension("lock")
    }

    /// Reads a lock file; one that is not there is empty. Merge conflicts and lines that cannot be read do no harm:
    /// [`LockFile::warnings`] tells of them.
    ///
    /// # Errors
    /// It cannot be read, or a newer cwm wrote it.
    pub fn read(path: &Path) -> Result<LockFile> {
        let path = std::path::absolute(path).map_err(StoreError::io("find", path))?;
        let text = match fs::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(LockFile { path, ..LockFile::default() });
            }
            Err(error) => return Err(StoreError::io("read", &path)(error)),
        };
        LockFile::of(path, text)
    }

    /// What is there now: as it was when this was read, or by someone else since.
    ///
    /// # Errors
    /// As [`LockFile::read`].
    pub fn again(&self) -> Result<LockFile> {
        let is_same = |text: &String| fs::read(&self.path).is_ok_and(|now| now == text.as_bytes());
        if self.text.as_ref().is_some_and(is_same) { Ok(self.clone()) } else { LockFile::read(&self.path) }
    }

    /// What `text` says, which `path` held: now, or in an earlier version of it.
    ///
    /// # Errors
    /// A newer cwm wrote it.
    pub fn of(path: PathBuf, text: String) -> Result<LockFile> {
        let (cells, warnings) = parse(&path, &text)?;
        Ok(LockFile { path, cells, text: Some(text), warnings })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was odd when it was read.
    pub fn warnings(&self) -> &[LockWarning] {
        &self.warnings
    }

    /// What it says about a cell.
    pub fn get(&self, label: &Label) -> Option<&LockLine> {
        self.cells.get(&label.to_string())
    }

    /// All cells, sorted by label.
    pub fn cells(&self) -> impl Iterator<Item = (&str, &LockLine)> {
        self.cells.iter().map(|(label, cell)| (label.as_str(), cell))
    }

    /// Sets what it says about these cells; all others stay.
    pub fn update(&mut self, cells: impl IntoIterator<Item = (Label, LockLine)>) {
        self.cells.extend(cells.into_iter().map(|(label, cell)| (label.to_string(), cell)));
    }

    /// Drops the cells that a pipeline does not have any more. Only after planning all of it.
    pub fn keep_only(&mut self, mut known: impl FnMut(&str) -> bool) {
        self.cells.retain(|label, _| known(label));
    }

    /// The file's text.
    pub fn text(&self) -> String {
        let mut text = format!("{INTRODUCTION}cwm-lock: {LOCK_FILE_FORMAT}\n");
        for (label, LockLine { key, outputs }) in &self.cells {
            // Writing to a String cannot fail.
            let _ = write!(text, "{}: {{\"key\": \"{key}\", \"outputs\": {{", serde_json::Value::from(label.as_str()));
            for (i, (name, digest)) in outputs.iter().enumerate() {
                let comma = if i == 0 { "" } else { ", " };
                let _ = write!(text, "{comma}{}: \"{digest}\"", serde_json::Value::from(name.as_str()));
            }
            text.push_str("}}\n");
        }
        text
    }

    /// Writes it in one instant, if it differs from what is on disk: true if it did. A lock file without cells is not
    /// made.
    ///
    /// # Errors
    /// The disk refuses; the file is then what it was.
    pub fn save(&mut self) -> Result<bool> {
        let text = self.text();
        if self.text.as_ref() == Some(&text) || (self.text.is_none() && self.cells.is_empty()) {
            return Ok(false);
        }
        // Through a link, so that the link stays one.
        let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        Disk::default().replace(&path, text.as_bytes(), true)?;
        self.text = Some(text);
        self.warnings.clear();
        Ok(true)
    }
}

/// Where a line stands in a merge conflict.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Neither,
    First,
    Base,
    Second,
}

/// Cells by label, and what was odd.
fn parse(path: &Path, text: &str) -> Result<(BTreeMap<String, LockLine>, Vec<LockWarning>)> {
    let mut cells: BTreeMap<String, LockLine> = BTreeMap::new();
    let mut warnings = Vec::new();
    let mut side = Side::Neither;
    let mut has_version = false;
    for (index, line) in text.lines().enumerate() {
        let mut warn = |message: String| warnings.push(LockWarning { path: path.to_owned(), line: index + 1, message });
        if let Some(next) = conflict_marker(line, side) {
            if next == Side::First {
                let name = line.trim_start_matches('<').trim();
                warn(format!("a merge conflict: for cells that both sides have, the first side is taken (`{name}`)"));
            }
            side = next;
            continue;
        }
        let line = line.trim();
        if side == Side::Base || line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(version) = line.strip_prefix("cwm-lock:") {
            match version.trim().parse::<u64>() {
                Ok(found) if found > u64::from(LOCK_FILE_FORMAT) => {
                    let path = path.to_owned();
                    return Err(StoreError::TooNew { path, what: "the lock file", found, known: LOCK_FILE_FORMAT });
                }
                Ok(_) => has_version = true,
                Err(_) => warn("this is not a format version; the line is ignored".into()),
            }
            continue;
        }
        match parse_cell(line) {
            // In a conflict the first side is taken; twice without one is a mistake, and again the first is taken.
            Ok((label, _)) if cells.contains_key(&label) => {
                if side == Side::Neither {
                    warn(format!("`{label}` is here a second time; the line is ignored"));
                }
            }
            Ok((label, cell)) => {
                cells.insert(label, cell);
            }
            Err(what) => warn(format!("{what}; the line is ignored")),
        }
    }
    if !has_version && !text.trim().is_empty() {
        let message = format!("`cwm-lock: {LOCK_FILE_FORMAT}` is missing");
        warnings.push(LockWarning { path: path.to_owned(), line: 1, message });
    }
    Ok((cells, warnings))
}

/// The side that begins after this line, if it is git's marker.
fn conflict_marker(line: &str, side: Side) -> Option<Side> {
    let is = |marker: &str| line.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    if is("<<<<<<<") {
        Some(Side::First)
    } else if is("|||||||") && side == Side::First {
        Some(Side::Base)
    } else if is("=======") && side != Side::Neither {
        Some(Side::Second)
    } else if is(">>>>>>>") && side != Side::Neither {
        Some(Side::Neither)
    } else {
        None
    }
}

/// A line is the inside of a JSON object with one member.
fn parse_cell(line: &str) -> Result<(String, LockLine), String> {
    let mut cells: BTreeMap<String, LockLine> = serde_json::from_str(&format!("{{{line}}}"))
        .map_err(|error| format!("this is not a cell with its key and outputs ({error})"))?;
    match (cells.pop_first(), cells.is_empty()) {
        (Some(cell), true) => Ok(cell),
        _ => Err("this is not one cell".into()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(name: &str) -> LockLine {
        let digest = Digest::of(name.as_bytes());
        LockLine { key: Key(digest.0), outputs: BTreeMap::from([("out".to_owned(), digest)]) }
    }

    fn label(text: &str) -> Label {
        text.parse().unwrap()
    }

    /// A lock file with these cells, read from `text`.
    fn read(folder: &Path, text: &str) -> Result<LockFile> {
        let path = folder.join("pipeline.lock");
        fs::write(&path, text).unwrap();
        LockFile::read(&path)
    }

    fn text_of(cells: &[(&str, &str)]) -> String {
        let mut file = LockFile::default();
        file.update(cells.iter().map(|(name, content)| (label(name), line(content))));
        file.text()
    }

    fn messages(file: &LockFile) -> Vec<(usize, String)> {
        file.warnings().iter().map(|warning| (warning.line, warning.message.clone())).collect()
    }

    #[test]
    fn the_text_is_what_it_was_and_is_yaml_with_one_line_a_cell() {
        let text = text_of(&[("model[size=d32/l1]", "a"), ("games", "b")]);
        let digest = |name: &str| Digest::of(name.as_bytes());
        let (a, b) = (digest("a"), digest("b"));
        assert_eq!(
            text,
            format!(
                "{INTRODUCTION}cwm-lock: 1\n\
                 \"games\": {{\"key\": \"{b}\", \"outputs\": {{\"out\": \"{b}\"}}}}\n\
                 \"model[size=d32/l1]\": {{\"key\": \"{a}\", \"outputs\": {{\"out\": \"{a}\"}}}}\n"
            )
        );
    }

    #[test]
    fn it_is_written_only_when_it_changes_and_others_lines_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipeline.lock");
        let mut file = LockFile::read(&path).unwrap();
        assert!(!file.save().unwrap(), "an empty lock file is not made");
        assert!(!path.exists());
        file.update([(label("a"), line("1")), (label("b"), line("2")), (label("gone"), line("3"))]);
        assert!(file.save().unwrap());
        assert!(!file.save().unwrap());

        let mut again = LockFile::read(&path).unwrap();
        assert_eq!(messages(&again), []);
        again.update([(label("a"), line("1"))]);
        assert!(!again.save().unwrap(), "the same again");
        again.update([(label("a"), line("changed"))]);
        assert!(again.save().unwrap());
        assert_eq!(again.get(&label("b")), Some(&line("2")));
        again.keep_only(|label| label != "gone");
        assert!(again.save().unwrap());
        let last = LockFile::read(&path).unwrap();
        assert_eq!(last.cells().map(|(label, _)| label).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing temporary stays");
    }

    #[test]
    fn in_a_merge_conflict_the_first_side_is_taken_and_told() {
        let folder = tempfile::tempdir().unwrap();
        let whole = text_of(&[("a", "1"), ("b", "ours")]);
        let (head, ours) = whole.trim_end().rsplit_once('\n').unwrap();
        let cell = |name, content| text_of(&[(name, content)]).lines().last().unwrap().to_owned();
        let (base, theirs, added) = (cell("b", "base"), cell("b", "theirs"), cell("c", "new"));
        let text =
            format!("{head}\n<<<<<<< HEAD\n{ours}\n||||||| 1234\n{base}\n=======\n{theirs}\n{added}\n>>>>>>> branch\n");
        let file = read(folder.path(), &text).unwrap();
        assert_eq!(file.get(&label("a")), Some(&line("1")));
        assert_eq!(file.get(&label("b")), Some(&line("ours")));
        assert_eq!(file.get(&label("c")), Some(&line("new")), "what only the other side has is kept");
        let told = messages(&file);
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(told[0].0, 5);
        assert!(told[0].1.contains("merge conflict") && told[0].1.contains("HEAD"), "{told:?}");
    }

    #[test]
    fn a_line_that_cannot_be_read_is_told_with_its_number_and_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let text = text_of(&[("a", "1"), ("b", "2")]);
        let text = text.replace("\"b\": {", "\"b\": ");
        let file = read(folder.path(), &format!("{text}\"a\": {{\"key\": 12e4567}}\n")).unwrap();
        assert_eq!(file.cells().map(|(label, _)| label).collect::<Vec<_>>(), ["a"]);
        let told = messages(&file);
        assert_eq!(told.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [5, 6], "{told:?}");
    }

    #[test]
    fn a_newer_version_is_refused_in_words() {
        let folder = tempfile::tempdir().unwrap();
        let message = read(folder.path(), "cwm-lock: 2\nanything: else\n").unwrap_err().to_string();
        assert!(message.contains("format 2") && message.contains("up to 1"), "{message}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "([<>=|]{7}( x)?|cwm-lock: ?[0-9]{0,2}|\"[a-z]\": \\{\\}|.{0,12}|\n){0,8}") {
            drop(parse(Path::new("x"), &text));
        }

        #[test]
        fn what_is_written_reads_back(cells in prop::collection::btree_map("[a-zé\"\\\\ ]{1,8}", ".{0,3}", 0..5)) {
            let cells = cells.iter().map(|(name, content)| (name.clone(), line(content))).collect();
            let file = LockFile { cells, ..LockFile::default() };
            let (read, warnings) = parse(Path::new("x"), &file.text()).unwrap();
            prop_assert_eq!(read, file.cells);
            prop_assert!(warnings.is_empty(), "{:?}", warnings);
        }
    }
}
