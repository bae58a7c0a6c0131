//! What is written as training goes: one JSON object a line.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use cwm_contract::Failure;
use cwm_models::metrics::Tally;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One line.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line {
    /// A step of training.
    Train {
        /// Batches drawn so far.
        step: u64,
        /// Loss of the batch, before the update.
        loss: Value,
        /// Learning rate of the update.
        learning_rate: Value,
        /// Global norm of the gradient, before clipping.
        gradient_norm: Value,
    },
    /// A validation.
    Validation {
        /// Batches drawn so far.
        step: u64,
        /// Mean cross-entropy per label.
        loss: Value,
        /// Share of labels that are right.
        labelwise: Value,
        /// Share of positions with all labels right.
        exact: Value,
        /// Share of games with all positions exact.
        trajectory: Value,
        /// Games measured on.
        games: u64,
    },
}

impl Line {
    /// A step of training.
    pub fn train(step: u64, loss: f64, learning_rate: f64, gradient_norm: f64) -> Self {
        Line::Train {
            step,
            loss: number(loss),
            learning_rate: number(learning_rate),
            gradient_norm: number(gradient_norm),
        }
    }

    /// A validation.
    pub fn validation(step: u64, tally: &Tally) -> Self {
        Line::Validation {
            step,
            loss: number(tally.loss()),
            labelwise: number(tally.labelwise()),
            exact: number(tally.exact()),
            trajectory: number(tally.trajectory()),
            games: tally.games,
        }
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

/// How far curves were written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Bytes.
    length: u64,
    /// BLAKE3 of them.
    blake3: String,
}

impl Written {
    /// Before the first line.
    pub fn nothing() -> Self {
        Written::of(0, &blake3::Hasher::new())
    }

    fn of(length: u64, hasher: &blake3::Hasher) -> Self {
        Written { length, blake3: hasher.finalize().to_hex().to_string() }
    }

    /// Whether the file at `path` begins with just that.
    ///
    /// # Errors
    /// It is there and cannot be read.
    pub fn begins(&self, path: &Path) -> Result<bool, Failure> {
        match fs_err::File::open(path) {
            Ok(mut file) => Ok(self.hash(&mut file)?.is_some()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The hash of so many bytes of `file` from where it stands, if they are what was written.
    fn hash(&self, file: impl Read) -> io::Result<Option<blake3::Hasher>> {
        let mut hasher = blake3::Hasher::new();
        io::copy(&mut file.take(self.length), &mut hasher)?;
        Ok(Some(hasher).filter(|hasher| Written::of(hasher.count(), hasher) == *self))
    }
}

/// The file of curves of a run in progress; it survives interruption.
pub struct Curves {
    file: BufWriter<File>,
    length: u64,
    hasher: blake3::Hasher,
}

impl Curves {
    /// Opens the file at `path`, made if absent, and cuts off all beyond what was `written`: what an interrupted run added
    /// after its last checkpoint.
    ///
    /// # Errors
    /// The file cannot be opened, or does not begin with that.
    pub fn open(path: &Path, written: &Written) -> Result<Self, Failure> {
        let file = fs_err::OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)?;
        let mut file = file.into_parts().0;
        let hasher = written.hash(&mut file)?.ok_or_else(|| {
            Failure::input(format!("{} does not begin with the curves that its checkpoint knows", path.display()))
                .hint("delete the folder that holds it to train from the start")
        })?;
        file.set_len(written.length)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Curves { file: BufWriter::new(file), length: written.length, hasher })
    }

    /// Adds a line.
    ///
    /// # Errors
    /// The disk refuses.
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

    /// Brings all lines to the disk; returns what was written.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn sync(&mut self) -> Result<Written, Failure> {
        self.file.flush()?;
        self.file.get_ref().sync_data()?;
        Ok(Written::of(self.length, &self.hasher))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_json_and_what_is_not_finite_is_text() {
        let line = |line: &Line| serde_json::to_string(line).unwrap();
        assert_eq!(
            line(&Line::train(3, 1.5, 1e-3, f64::INFINITY)),
            r#"{"kind":"train","step":3,"loss":1.5,"learning_rate":0.001,"gradient_norm":"inf"}"#
        );
        assert_eq!(
            line(&Line::validation(3, &Tally { loss_sum: f64::NAN, positions: 1, games: 1, ..Tally::default() })),
            r#"{"kind":"validation","step":3,"loss":"nan","labelwise":0.0,"exact":0.0,"trajectory":0.0,"games":1}"#
        );
        assert_eq!(number(f64::NEG_INFINITY), json!("-inf"));
    }

    #[test]
    fn lines_after_the_checkpoint_are_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("curves.jsonl");
        let mut curves = Curves::open(&path, &Written::nothing()).unwrap();
        curves.push(&Line::train(1, 1.0, 1.0, 1.0)).unwrap();
        let written = curves.sync().unwrap();
        let before = std::fs::read(&path).unwrap();
        curves.push(&Line::train(2, 1.0, 1.0, 1.0)).unwrap();
        let more = curves.sync().unwrap();
        drop(curves);
        assert!(written.begins(&path).unwrap() && more.begins(&path).unwrap());
        assert_eq!(Curves::open(&path, &written).unwrap().sync().unwrap(), written);
        assert_eq!(std::fs::read(&path).unwrap(), before);
        // A file that is shorter, or that is another, is not gone on with.
        assert!(!more.begins(&path).unwrap() && Curves::open(&path, &more).is_err());
        std::fs::write(&path, before.to_ascii_uppercase()).unwrap();
        assert!(!written.begins(&path).unwrap() && Curves::open(&path, &written).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), before.to_ascii_uppercase(), "nothing was cut");
        std::fs::remove_file(&path).unwrap();
        assert!(!written.begins(&path).unwrap());
    }
}
