//! A small run of a stage's own computation, by which a change of its code is judged.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::testing::Trial;
use crate::{Cancellation, DeviceChoice, Failure, FailureKind, Label, Stage, Value, Values};

/// What a probe gave: bytes by name, so that a difference can be named.
pub type Probed = BTreeMap<String, Vec<u8>>;

/// What a probe is given: the parameters in question, and an empty folder to work in.
///
/// A probe computes on the processor, takes seconds at most, and gives the same bytes every time, for any number of
/// threads: it is held to what its stage is held to.
pub struct Probing<'p> {
    values: &'p Values,
    folder: &'p Path,
    cancellation: Cancellation,
}

/// An artifact that a miniature reads: the input's name, what made it, and the file or folder.
pub type Given = (&'static str, Label, PathBuf);

impl<'p> Probing<'p> {
    /// A probe for `values` (complete, normalised) in the empty `folder`.
    pub fn new(values: &'p Values, folder: &'p Path, cancellation: Cancellation) -> Self {
        Probing { values, folder, cancellation }
    }

    /// The parameters.
    pub fn values(&self) -> &Values {
        self.values
    }

    /// The parameters with others in place of some.
    pub fn values_with<const N: usize>(&self, others: [(&str, Value); N]) -> Values {
        let mut values = self.values.clone();
        values.extend(others.map(|(name, value)| (name.to_owned(), value)));
        values
    }

    /// The integer `parameter`, or `most` if it is greater; what is no integer as it is.
    pub fn at_most(&self, parameter: &str, most: i128) -> Value {
        match self.values.get(parameter) {
            Some(Value::Int(number)) => Value::Int((*number).min(most)),
            other => other.cloned().unwrap_or_default(),
        }
    }

    /// Where made-up inputs may be written.
    pub fn folder(&self) -> &Path {
        self.folder
    }

    /// Runs `stage` itself on made-up `inputs` with `values`, and gives the bytes of all that it wrote as
    /// `name/output` (of a folder, `name/output/file`). What it refuses is an answer too: the words, as `name/refused`.
    ///
    /// # Errors
    /// The probe was asked to stop, or the machine refused.
    pub fn run(&self, stage: &dyn Stage, name: &str, values: &Values, inputs: &[Given]) -> Result<Probed, Failure> {
        let work = self.folder.join("runs").join(name);
        let mut trial = Trial::new(&work).on(DeviceChoice::Cpu);
        for (parameter, value) in values {
            trial = trial.with(parameter, value.clone());
        }
        for (input, label, path) in inputs {
            trial = trial.labelled(input, label.clone(), path);
        }
        let mut probed = Probed::new();
        match trial.run_until(stage, self.cancellation.clone()) {
            Ok(outcome) => {
                for (output, path) in outcome.outputs {
                    read(&format!("{name}/{output}"), &path, &mut probed)?;
                }
            }
            Err(failure) if matches!(failure.kind, FailureKind::Input | FailureKind::Internal) => {
                // Where it works is no part of what it says.
                let words = failure.message.replace(&*self.folder.to_string_lossy(), "");
                probed.insert(format!("{name}/refused"), words.into_bytes());
            }
            Err(failure) => return Err(failure),
        }
        fs::remove_dir_all(&work).map_err(|error| Failure::io("remove", &work, error))?;
        Ok(probed)
    }
}

/// The bytes of a file, or of all files below a folder.
fn read(name: &str, path: &Path, probed: &mut Probed) -> Result<(), Failure> {
    if !path.is_dir() {
        let bytes = fs::read(path).map_err(|error| Failure::io("read", path, error))?;
        probed.insert(name.to_owned(), bytes);
        return Ok(());
    }
    for entry in fs::read_dir(path).map_err(|error| Failure::io("list", path, error))? {
        let entry = entry.map_err(|error| Failure::io("list", path, error))?;
        read(&format!("{name}/{}", entry.file_name().to_string_lossy()), &entry.path(), probed)?;
    }
    Ok(())
}
