//! The differences between the outputs of a stage and its recorded result.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Store;
use super::commit::{Content, NewOutput};
use super::hashing::hash_own_file;
use super::manifest::ManifestFile;
use super::objects::survey;
use super::record::{OutputRecord, OutputShape};
use crate::external_files::DigestCache;
use cwm_core::FileError;
use cwm_core::files::Result;

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The output.
    pub output: String,
    /// The file, of a folder.
    pub file: Option<String>,
    /// The kind of difference.
    pub how: DifferenceKind,
    /// The first byte that differs, counted from 0; the length of the shorter one if it is the beginning of the other.
    pub byte: Option<u64>,
    /// The line of that byte, from 1.
    pub line: Option<u64>,
}

/// The kind of difference between files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    /// Its content does.
    Content,
    /// It is recorded and was not made.
    Missing,
    /// It was made and is not recorded.
    Extra,
    /// Only whether it may be executed does.
    Mode,
    /// One is a file and the other a folder.
    Shape,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "output `{}`", self.output)?;
        if let Some(file) = &self.file {
            write!(f, ", file `{file}`")?;
        }
        match self.how {
            DifferenceKind::Content => f.write_str(": other content")?,
            DifferenceKind::Missing => f.write_str(": recorded, and not made this time")?,
            DifferenceKind::Extra => f.write_str(": made this time, and not recorded")?,
            DifferenceKind::Mode => f.write_str(": only one of them may be executed")?,
            DifferenceKind::Shape => f.write_str(": one is a file, the other a folder")?,
        }
        match (self.byte, self.line) {
            (Some(byte), Some(line)) => write!(f, " from byte {byte} on (line {line})"),
            _ => Ok(()),
        }
    }
}

impl Store {
    /// Compares `made` with the `recorded` output `name`.
    ///
    /// # Errors
    /// The output is not of its declared shape, or cannot be read. A recorded file that is gone is no error: its digest shows that
    /// the content differs.
    pub fn differences(
        &self,
        name: &str,
        made: &NewOutput,
        recorded: &OutputRecord,
        files: &DigestCache,
    ) -> Result<Vec<Difference>> {
        let of = |file: Option<&str>, how, place: Option<(u64, u64)>| Difference {
            output: name.to_owned(),
            file: file.map(str::to_owned),
            how,
            byte: place.map(|(byte, _)| byte),
            line: place.map(|(_, line)| line),
        };
        let path = match &made.content {
            Content::Local(path) => path,
            Content::External(snapshot) if snapshot.digest == recorded.digest => return Ok(Vec::new()),
            Content::InStore(stored) if stored.digest == recorded.digest => return Ok(Vec::new()),
            Content::External(_) | Content::InStore(_) => return Ok(vec![of(None, DifferenceKind::Content, None)]),
        };
        let is_folder = made.shape == OutputShape::Folder;
        if is_folder != (recorded.shape == OutputShape::Folder) {
            return Ok(vec![of(None, DifferenceKind::Shape, None)]);
        }
        let found = survey(path, &made.shape)?;
        if !is_folder {
            if hash_own_file(path)? == recorded.digest {
                return Ok(Vec::new());
            }
            let before = self.path_of(recorded, files).ok();
            let place = before.map(|before| first_difference(&before, path)).transpose()?.flatten();
            return Ok(vec![of(None, DifferenceKind::Content, place)]);
        }
        let recorded = self.manifest(&recorded.digest)?;
        let found: BTreeMap<&str, _> = found.iter().map(|file| (file.name.as_str(), file)).collect();
        let names: BTreeSet<&str> = found.keys().copied().chain(recorded.files().keys().map(String::as_str)).collect();
        let mut differences = Vec::new();
        for name in names {
            match (recorded.files().get(name), found.get(name)) {
                (Some(ManifestFile { digest, executable, .. }), Some(file)) => {
                    if hash_own_file(&file.path)? != *digest {
                        let before = self.object_path(digest);
                        let place = if before.is_file() { first_difference(&before, &file.path)? } else { None };
                        differences.push(of(Some(name), DifferenceKind::Content, place));
                    } else if file.executable != *executable {
                        differences.push(of(Some(name), DifferenceKind::Mode, None));
                    }
                }
                (Some(_), None) => differences.push(of(Some(name), DifferenceKind::Missing, None)),
                (None, _) => differences.push(of(Some(name), DifferenceKind::Extra, None)),
            }
        }
        Ok(differences)
    }
}

/// The first byte in which two files differ, and its line; nothing if they are the same.
fn first_difference(one: &Path, other: &Path) -> Result<Option<(u64, u64)>> {
    let open = |path: &Path| File::open(path).map(BufReader::new).map_err(FileError::io("open", path));
    let (mut first, mut second) = (open(one)?, open(other)?);
    let (mut byte, mut line) = (0u64, 1u64);
    loop {
        let a = first.fill_buf().map_err(FileError::io("read", one))?;
        let b = second.fill_buf().map_err(FileError::io("read", other))?;
        let common = a.len().min(b.len());
        let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        line += a[..same].iter().filter(|byte| **byte == b'\n').count() as u64;
        byte += same as u64;
        if same < common || (common == 0 && a.len() != b.len()) {
            return Ok(Some((byte, line)));
        }
        if common == 0 {
            return Ok(None);
        }
        first.consume(common);
        second.consume(common);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_found_wherever_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        let long = "line\n".repeat(10_000);
        for (a, b, expected) in [
            ("", "", None),
            ("abc", "abc", None),
            ("abc", "abd", Some((2, 1))),
            ("a\nb\nc", "a\nb\nd", Some((4, 3))),
            ("a\n", "a\nb", Some((2, 2))),
            ("", "x", Some((0, 1))),
            (long.as_str(), &format!("{long}x"), Some((50_000, 10_001))),
        ] {
            std::fs::write(&one, a).unwrap();
            std::fs::write(&other, b).unwrap();
            assert_eq!(first_difference(&one, &other).unwrap(), expected);
            assert_eq!(first_difference(&other, &one).unwrap(), expected);
        }
    }
}
