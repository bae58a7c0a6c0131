//! The differences between the outputs of a stage and its recorded result.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Store;
use super::commit::{NewOutput, OutputContent};
use super::hashing::hash_own_file;
use super::manifest::ManifestFile;
use super::objects::{ProducedFile, list_files};
use super::record::OutputRecord;
use crate::external_files::FileFingerprint;
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
    /// The contents differ.
    Content,
    /// The file is recorded and was not made.
    Missing,
    /// The file was made and is not recorded.
    Extra,
    /// Only the permission to execute differs.
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
            DifferenceKind::Missing => f.write_str(": recorded, and not written this time")?,
            DifferenceKind::Extra => f.write_str(": written this time, and not recorded")?,
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
    pub fn differences(&self, name: &str, made: &NewOutput, recorded: &OutputRecord) -> Result<Vec<Difference>> {
        let difference = |file: &str, how, place: Option<(u64, u64)>| {
            let (byte, line) = place.unzip();
            Difference { output: name.to_owned(), file: (!file.is_empty()).then(|| file.to_owned()), how, byte, line }
        };
        let path = match &made.content {
            OutputContent::Local(path) => path,
            OutputContent::External(FileFingerprint { digest, .. })
            | OutputContent::InStore(OutputRecord { digest, .. }) => {
                let is_equal = *digest == recorded.digest;
                return Ok(if is_equal { Vec::new() } else { vec![difference("", DifferenceKind::Content, None)] });
            }
        };
        let is_folder = made.shape.is_folder();
        if is_folder != recorded.shape.is_folder() {
            return Ok(vec![difference("", DifferenceKind::Shape, None)]);
        }
        let mut found: BTreeMap<String, ProducedFile> =
            list_files(path, &made.shape)?.into_iter().map(|file| (file.name.clone(), file)).collect();
        let files = match is_folder {
            true => self.manifest(&recorded.digest)?.files().clone(),
            false => {
                let file = ManifestFile { digest: recorded.digest, size: recorded.size, executable: false };
                BTreeMap::from([(String::new(), file)])
            }
        };
        let mut differences = Vec::new();
        for (name, ManifestFile { digest, executable, .. }) in &files {
            match found.remove(name) {
                None => differences.push(difference(name, DifferenceKind::Missing, None)),
                Some(file) if hash_own_file(&file.path)? != *digest => {
                    let place = first_difference(&self.object_path(digest), &file.path);
                    differences.push(difference(name, DifferenceKind::Content, place));
                }
                Some(file) if is_folder && file.executable != *executable => {
                    differences.push(difference(name, DifferenceKind::Mode, None));
                }
                Some(_) => {}
            }
        }
        differences.extend(found.keys().map(|name| difference(name, DifferenceKind::Extra, None)));
        differences.sort_by(|a, b| a.file.cmp(&b.file));
        Ok(differences)
    }
}

/// Returns the first byte in which two files differ, and its line; nothing if they are the same, or one cannot be read.
fn first_difference(one: &Path, other: &Path) -> Option<(u64, u64)> {
    let bytes_of = |path: &Path| Some(BufReader::new(File::open(path).ok()?).bytes());
    let (mut first, mut second) = (bytes_of(one)?, bytes_of(other)?);
    let (mut byte, mut line) = (0, 1);
    loop {
        let (ours, theirs) = (first.next().transpose().ok()?, second.next().transpose().ok()?);
        if ours != theirs {
            return Some((byte, line));
        }
        byte += 1;
        line += u64::from(ours? == b'\n');
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
            assert_eq!(first_difference(&one, &other), expected);
            assert_eq!(first_difference(&other, &one), expected);
        }
    }
}
