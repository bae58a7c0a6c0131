//! What is written as training goes: one JSON object a line.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use cwm_contract::Failure;
use cwm_models::metrics::Tally;
use serde::Serialize;
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

/// The file of curves of a run in progress; it survives interruption.
pub struct Curves {
    file: BufWriter<File>,
    length: u64,
}

impl Curves {
    /// Opens the file at `path`, made if absent, and cuts off all beyond `length`: what an interrupted run wrote after
    /// its last checkpoint.
    ///
    /// # Errors
    /// The file cannot be opened, or is shorter.
    pub fn open(path: &Path, length: u64) -> Result<Self, Failure> {
        let mut file = fs_err::OpenOptions::new().create(true).truncate(false).write(true).open(path)?.into_parts().0;
        let found = file.metadata()?.len();
        if found < length {
            return Err(Failure::input(format!(
                "{} has {found} bytes where its checkpoint knows of {length}",
                path.display()
            ))
            .hint("delete the folder that holds it to train from the start"));
        }
        file.set_len(length)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Curves { file: BufWriter::new(file), length })
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
        Ok(())
    }

    /// Brings all lines to the disk; returns their length in bytes.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn sync(&mut self) -> Result<u64, Failure> {
        self.file.flush()?;
        self.file.get_ref().sync_data()?;
        Ok(self.length)
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
        let mut curves = Curves::open(&path, 0).unwrap();
        curves.push(&Line::train(1, 1.0, 1.0, 1.0)).unwrap();
        let length = curves.sync().unwrap();
        let before = std::fs::read(&path).unwrap();
        curves.push(&Line::train(2, 1.0, 1.0, 1.0)).unwrap();
        curves.sync().unwrap();
        drop(curves);
        Curves::open(&path, length).unwrap().sync().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert!(Curves::open(&path, length + 1).is_err());
    }
}
