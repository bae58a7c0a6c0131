//! Text files beside a pipeline with one entry a line, so that git merges them line by line.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use cwm_core::files::{Result, read_project_file};
use cwm_core::{DurableFs, Error, FileError, Place, plural, shell_quote};

/// The newest version of each format, and the one that is written.
const VERSION: u32 = 1;

/// An entry of a file: a line of it.
pub trait LineEntry: Clone + PartialEq {
    /// The key of an entry. Lines are sorted by it.
    type Key: Clone + Ord;
    /// The name of the format in the file: `cwm-lock`.
    const FORMAT: &'static str;
    /// The name of an entry in messages: `a pin`.
    const ENTRY: &'static str;
    /// The comment that begins a file with the usual heading.
    const INTRODUCTION: &'static str;
    /// The line before the entries of a new file.
    const HEADING: &'static str = "";
    /// The rule for a merge conflict, in messages.
    const CONFLICT_RULE: &'static str;

    /// Returns true for a line that may stand before the entries.
    fn is_heading(line: &str) -> bool {
        line == Self::HEADING
    }

    /// Parses a line.
    ///
    /// # Errors
    /// The problem with it.
    fn parse(line: &str) -> Result<(Self::Key, Self), String>;

    /// Appends the line to `text`.
    fn write(&self, key: &Self::Key, text: &mut String);
}

/// A file of entries.
#[derive(Clone, Debug)]
pub struct LineFile<E: LineEntry> {
    pub(crate) path: PathBuf,
    pub(crate) heading: String,
    pub(crate) entries: BTreeMap<E::Key, E>,
    /// Further entries with the same keys, which are not used.
    pub(crate) duplicates: Vec<E>,
    /// The text of the file on disk.
    pub(crate) text: Option<String>,
    pub(crate) problems: Vec<LineProblem>,
}

/// A problem of a file that was read all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineProblem {
    pub path: PathBuf,
    pub place: Place,
    pub kind: ProblemKind,
    pub message: String,
}

/// The kind of a [`LineProblem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// A merge conflict begins.
    Conflict,
    /// A line is not what it should be, and would be lost if the file were written again.
    Unreadable,
    /// A line has the key of an earlier one, and differs from it.
    Contradiction,
    /// The file does not have the version of its format.
    NoVersion,
}

impl fmt::Display for LineProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.place.line, self.message)?;
        match self.kind {
            ProblemKind::Contradiction => f.write_str("; the line is ignored"),
            ProblemKind::Conflict | ProblemKind::Unreadable | ProblemKind::NoVersion => Ok(()),
        }
    }
}

/// Returns a text for each kind of problem of a file: the first one, and how many more lines have it.
pub fn fold_problems<'a>(problems: impl IntoIterator<Item = &'a LineProblem>) -> Vec<String> {
    let mut found: Vec<(&LineProblem, u64)> = Vec::new();
    for problem in problems {
        match found.iter_mut().find(|(first, _)| (first.kind, &first.path) == (problem.kind, &problem.path)) {
            Some((_, more)) => *more += 1,
            None => found.push((problem, 0)),
        }
    }
    let text = |(first, more): (&LineProblem, u64)| match more {
        0 => first.to_string(),
        _ => format!("{first}; {} like it", plural(more, "more line", "more lines")),
    };
    found.into_iter().map(text).collect()
}

impl<E: LineEntry> Default for LineFile<E> {
    fn default() -> Self {
        let (entries, duplicates, problems) = (BTreeMap::new(), Vec::new(), Vec::new());
        LineFile { path: PathBuf::new(), heading: E::HEADING.to_owned(), entries, duplicates, text: None, problems }
    }
}

impl<E: LineEntry> LineFile<E> {
    /// Reads a file; one that is not there is empty. Of a merge conflict both sides are read, and of two lines with one key the
    /// first counts. Lines that cannot be read are ignored, and the file is then not written: [`LineFile::problems`] has all of it.
    ///
    /// # Errors
    /// It cannot be read, or a newer cwm wrote it.
    pub fn read(path: &Path) -> Result<Self> {
        let path = std::path::absolute(path).map_err(FileError::io("find", path))?;
        match read_project_file(&path)? {
            Some(text) => Self::parse(path, text),
            None => Ok(LineFile { path, ..LineFile::default() }),
        }
    }

    /// Reads the file called `name` beside the pipeline in `yaml`.
    ///
    /// # Errors
    /// As [`LineFile::read`], or it is also the pipeline's lock file.
    pub fn for_pipeline(yaml: &Path, name: &str) -> Result<Self, Error> {
        let path = yaml.with_file_name(name);
        if yaml.with_extension("lock") == path {
            let problem =
                format!("{} cannot be the name of a pipeline: {name} is no lock file of results", yaml.display());
            return Err(Error::usage(problem).hint("rename it"));
        }
        Ok(Self::read(&path)?)
    }

    /// Parses `text`, which `path` held: now, or in an earlier version of it.
    ///
    /// # Errors
    /// A newer cwm wrote it.
    pub fn parse(path: PathBuf, text: String) -> Result<Self> {
        let mut file = LineFile { path, ..LineFile::default() };
        let mut line_numbers = BTreeMap::new();
        let (mut has_version, mut in_conflict, mut in_ancestor) = (false, false, false);
        let mut next = 0;
        for (index, whole) in text.split_inclusive('\n').enumerate() {
            let (start, line) = (next, whole.trim());
            next += whole.len();
            let is_marker = |marker: &str| {
                let rest = whole.strip_prefix(marker);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\r', '\n']))
            };
            let (kind, message) = if is_marker("<<<<<<<") {
                (in_conflict, in_ancestor) = (true, false);
                (ProblemKind::Conflict, format!("a merge conflict (`{line}`): {}", E::CONFLICT_RULE))
            } else if in_conflict && ["|||||||", "=======", ">>>>>>>"].into_iter().any(is_marker) {
                (in_conflict, in_ancestor) = (!is_marker(">>>>>>>"), is_marker("|||||||"));
                continue;
            } else if in_ancestor || line.is_empty() || line.starts_with('#') {
                continue;
            } else if E::is_heading(line) {
                file.heading = line.to_owned();
                continue;
            } else if let Some(version) = line.strip_prefix(E::FORMAT).and_then(|rest| rest.strip_prefix(':')) {
                match version.trim().parse() {
                    Ok(found) if found > u64::from(VERSION) => {
                        return Err(FileError::TooNew { path: file.path, what: E::FORMAT, found, known: VERSION });
                    }
                    Ok(_) => {
                        has_version = true;
                        continue;
                    }
                    Err(_) => (ProblemKind::Unreadable, "this is not a format version".to_owned()),
                }
            } else {
                match E::parse(line).map(|(key, entry)| (file.entries.get(&key), key, entry)) {
                    Err(error) => (ProblemKind::Unreadable, format!("this is not {}: {error}", E::ENTRY)),
                    Ok((None, key, entry)) => {
                        line_numbers.insert(key.clone(), index + 1);
                        file.entries.insert(key, entry);
                        continue;
                    }
                    Ok((Some(first), key, entry)) => {
                        let is_fine = in_conflict || *first == entry;
                        file.duplicates.push(entry);
                        if is_fine {
                            continue;
                        }
                        (ProblemKind::Contradiction, format!("this contradicts line {}", line_numbers[&key]))
                    }
                }
            };
            let place = Place::in_text(0, &text, start..start + line.len());
            file.problems.push(LineProblem { path: file.path.clone(), place, kind, message });
        }
        if !has_version {
            let (path, place) = (file.path.clone(), Place::in_text(0, &text, 0..0));
            let message = format!("`{}: {VERSION}` is missing", E::FORMAT);
            file.problems.push(LineProblem { path, place, kind: ProblemKind::NoVersion, message });
        }
        Ok(LineFile { text: Some(text), ..file })
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if the file is on disk.
    pub fn exists(&self) -> bool {
        self.text.is_some()
    }

    /// Returns the problems of the file, in the order of its lines.
    pub fn problems(&self) -> &[LineProblem] {
        &self.problems
    }

    /// Returns the text of a file with these entries.
    pub fn text(&self) -> String {
        let introduction = if self.heading == E::HEADING { E::INTRODUCTION } else { "" };
        let mut text = format!("{introduction}{}: {VERSION}\n", E::FORMAT);
        if !self.heading.is_empty() {
            text += &format!("{}\n", self.heading);
        }
        self.entries.iter().for_each(|(key, entry)| entry.write(key, &mut text));
        text
    }

    /// Refuses a file of which lines cannot be read, before it would be written without them.
    ///
    /// # Errors
    /// There is such a line.
    pub fn verify_readable(&self) -> Result<(), Error> {
        let unreadable = self.problems.iter().filter(|problem| problem.kind == ProblemKind::Unreadable);
        let Some(problem) = fold_problems(unreadable).pop() else { return Ok(()) };
        let path = shell_quote(&self.path.to_string_lossy());
        Err(Error::store(format!("cannot read {problem}"))
            .hint(format!("correct or remove the line; if git has the file, `git restore {path}` restores it")))
    }

    /// Writes the file in one instant, if it differs from what is on disk: true if it did. A file without entries is not made.
    ///
    /// # Errors
    /// An operation on the disk fails, or what is there cannot be read; the file is then what it was.
    pub fn save(&mut self) -> Result<bool, Error> {
        self.verify_readable()?;
        let text = self.text();
        if self.text.as_ref().map_or(self.entries.is_empty(), |old| *old == text) {
            return Ok(false);
        }
        DurableFs::default().replace(&through_link(&self.path), text.as_bytes(), true)?;
        (self.text, self.duplicates, self.problems) = (Some(text), Vec::new(), Vec::new());
        Ok(true)
    }

    /// Locks the folder of the file until the returned file is dropped, for a change of this file. The kernel's lock is on the
    /// folder itself: the file is replaced by each change, and there is nothing to be deleted by hand.
    ///
    /// # Errors
    /// The folder cannot be opened or locked.
    pub fn lock_folder(&self) -> Result<File, Error> {
        let path = through_link(&self.path);
        let folder = path.parent().unwrap_or(Path::new("/"));
        let file = File::open(folder).map_err(|error| Error::io("open", folder, error))?;
        loop {
            match file.lock() {
                Ok(()) => return Ok(file),
                // A signal whose handler only notes it.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io("lock", folder, error)),
            }
        }
    }
}

/// Returns the path of the file itself, so that a link to it stays one.
fn through_link(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Parses the inside of a JSON object with one member.
///
/// # Errors
/// It is something else.
pub fn json_member<T: serde::de::DeserializeOwned>(line: &str) -> Result<(String, T), String> {
    let mut key = serde_json::Deserializer::from_str(line).into_iter::<String>();
    let name = key.next().transpose().map_err(|error| error.to_string())?.unwrap_or_default();
    let value = line[key.byte_offset()..].trim_start().strip_prefix(':').unwrap_or_default();
    Ok((name, serde_json::from_str(value).map_err(|error| error.to_string())?))
}
