//! The curves that a training writes as it goes: one JSON object a line.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use cwm_contract::Failure;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use crate::StepMetrics;

/// One line.
#[derive(Debug)]
pub struct Line {
    /// The kind of the line, such as `train` or `validation`.
    pub kind: &'static str,
    /// Batches drawn so far.
    pub step: u64,
    /// Names and values, in the order of the line.
    pub entries: Vec<(&'static str, Value)>,
}

impl Line {
    /// A step of training with these metrics.
    pub fn train(step: u64, metrics: &StepMetrics) -> Self {
        let entries = vec![
            ("loss", number(metrics.loss)),
            ("learning_rate", number(metrics.learning_rate)),
            ("gradient_norm", number(metrics.gradient_norm)),
        ];
        Line { kind: "train", step, entries }
    }
}

impl Serialize for Line {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", self.kind)?;
        map.serialize_entry("step", &self.step)?;
        self.entries.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

/// A number as JSON; what is not finite as text, since JSON has no such numbers.
pub fn number(value: f64) -> Value {
    match value {
        _ if value.is_nan() => json!("nan"),
        f64::INFINITY => json!("inf"),
        f64::NEG_INFINITY => json!("-inf"),
        _ => json!(value),
    }
}

/// The beginning of a file of curves, by its length and digest: what a checkpoint has of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurvesPrefix {
    /// Bytes.
    length: u64,
    /// BLAKE3 of them.
    blake3: String,
}

impl CurvesPrefix {
    /// The prefix without a line.
    pub fn empty() -> Self {
        CurvesPrefix::new(0, &blake3::Hasher::new())
    }

    fn new(length: u64, hasher: &blake3::Hasher) -> Self {
        CurvesPrefix { length, blake3: hasher.finalize().to_hex().to_string() }
    }

    /// Returns true if the file at `path` begins with it.
    ///
    /// # Errors
    /// The file exists and cannot be read.
    pub fn is_in(&self, path: &Path) -> Result<bool, Failure> {
        match fs_err::File::open(path) {
            Ok(mut file) => Ok(self.hash(&mut file)?.is_some()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The hash of so many bytes of `file` from its position on, if they are this prefix.
    fn hash(&self, file: impl Read) -> io::Result<Option<blake3::Hasher>> {
        let mut hasher = blake3::Hasher::new();
        io::copy(&mut file.take(self.length), &mut hasher)?;
        Ok(Some(hasher).filter(|hasher| CurvesPrefix::new(hasher.count(), hasher) == *self))
    }
}

/// The file of curves of a run in progress; it survives interruption.
pub struct Curves {
    file: BufWriter<File>,
    length: u64,
    hasher: blake3::Hasher,
}

impl Curves {
    /// Opens the file at `path`, made if absent, and cuts off all beyond `prefix`: what an interrupted run added after
    /// its last checkpoint.
    ///
    /// # Errors
    /// The file cannot be opened, or does not begin with it.
    pub fn open(path: &Path, prefix: &CurvesPrefix) -> Result<Self, Failure> {
        let file = fs_err::OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)?;
        let mut file = file.into_parts().0;
        let hasher = prefix.hash(&mut file)?.ok_or_else(|| {
            Failure::input(format!("{} does not begin with the curves of its checkpoint", path.display()))
                .hint("delete the folder that holds it to train from the start")
        })?;
        file.set_len(prefix.length)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Curves { file: BufWriter::new(file), length: prefix.length, hasher })
    }

    /// Adds a line.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn push(&mut self, line: &Line) -> Result<(), Failure> {
        let mut text = serde_json::to_vec(line).map_err(|error| Failure::internal(error.to_string()))?;
        text.push(b'\n');
        self.file.write_all(&text)?;
        // People follow the file while it grows; a line is written at once, and is the length of a step from the next.
        self.file.flush()?;
        self.length += text.len() as u64;
        self.hasher.update(&text);
        Ok(())
    }

    /// Syncs all lines to the disk; returns the prefix that they are.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn sync(&mut self) -> Result<CurvesPrefix, Failure> {
        self.file.flush()?;
        self.file.get_ref().sync_data()?;
        Ok(CurvesPrefix::new(self.length, &self.hasher))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn train(step: u64, gradient_norm: f64) -> Line {
        Line::train(step, &StepMetrics { positions: 7, loss: 1.5, learning_rate: 1e-3, gradient_norm })
    }

    #[test]
    fn lines_are_json_in_a_fixed_order_and_what_is_not_finite_is_text() {
        let line = |line: &Line| serde_json::to_string(line).unwrap();
        assert_eq!(
            line(&train(3, f64::INFINITY)),
            r#"{"kind":"train","step":3,"loss":1.5,"learning_rate":0.001,"gradient_norm":"inf"}"#
        );
        assert_eq!(
            line(&Line {
                kind: "validation",
                step: 3,
                entries: vec![("loss", number(f64::NAN)), ("exact", json!(0.5))]
            }),
            r#"{"kind":"validation","step":3,"loss":"nan","exact":0.5}"#
        );
        assert_eq!(number(f64::NEG_INFINITY), json!("-inf"));
    }

    #[test]
    fn lines_after_the_checkpoint_are_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("curves.jsonl");
        let mut curves = Curves::open(&path, &CurvesPrefix::empty()).unwrap();
        curves.push(&train(1, 1.0)).unwrap();
        let prefix = curves.sync().unwrap();
        let before = std::fs::read(&path).unwrap();
        curves.push(&train(2, 1.0)).unwrap();
        let more = curves.sync().unwrap();
        drop(curves);
        assert!(prefix.is_in(&path).unwrap() && more.is_in(&path).unwrap());
        assert_eq!(Curves::open(&path, &prefix).unwrap().sync().unwrap(), prefix);
        assert_eq!(std::fs::read(&path).unwrap(), before);
        // A file that is shorter, or that is another, is not gone on with.
        assert!(!more.is_in(&path).unwrap() && Curves::open(&path, &more).is_err());
        std::fs::write(&path, before.to_ascii_uppercase()).unwrap();
        assert!(!prefix.is_in(&path).unwrap() && Curves::open(&path, &prefix).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), before.to_ascii_uppercase(), "nothing was cut");
        std::fs::remove_file(&path).unwrap();
        assert!(!prefix.is_in(&path).unwrap());
    }
}
