//! Probes: small runs of a stage's own computation, which show whether a change of its code changes the result.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::testing::Trial;
use crate::{Cancellation, DeviceChoice, Failure, FailureKind, Label, Stage, Value, Values};

/// The output of a probe: bytes by name, so that a difference can be named.
pub type ProbeOutput = BTreeMap<String, Vec<u8>>;

/// The parameters of a probe, and an empty folder to work in.
///
/// A probe computes on the CPU, takes seconds at most, and gives the same bytes every time, for any number of
/// threads, as its stage does.
pub struct ProbeContext<'p> {
    values: &'p Values,
    folder: &'p Path,
    cancellation: Cancellation,
}

/// An artifact that a miniature reads: the input's name, the label of its maker, and the file or folder.
pub type ProbeInput = (&'static str, Label, PathBuf);

impl<'p> ProbeContext<'p> {
    /// Creates the context of a probe for `values` (complete, normalised) in the empty `folder`.
    pub fn new(values: &'p Values, folder: &'p Path, cancellation: Cancellation) -> Self {
        ProbeContext { values, folder, cancellation }
    }

    /// Returns the parameters.
    pub fn values(&self) -> &Values {
        self.values
    }

    /// Returns the parameters with some replaced.
    pub fn values_with<const N: usize>(&self, others: [(&str, Value); N]) -> Values {
        let mut values = self.values.clone();
        values.extend(others.map(|(name, value)| (name.to_owned(), value)));
        values
    }

    /// Returns the integer `parameter`, at most `most`; a parameter that is no integer as it is.
    pub fn at_most(&self, parameter: &str, most: i128) -> Value {
        match self.values.get(parameter) {
            Some(Value::Int(number)) => Value::Int((*number).min(most)),
            other => other.cloned().unwrap_or_default(),
        }
    }

    /// Returns the folder for made-up inputs.
    pub fn folder(&self) -> &Path {
        self.folder
    }

    /// Runs `stage` itself on made-up `inputs` with `values`, and returns the bytes of its outputs as `name/output` (of a
    /// folder, `name/output/file`). A refusal is a result too: the message, as `name/refused`.
    ///
    /// # Errors
    /// The probe was cancelled, or the machine refused.
    pub fn run(
        &self,
        stage: &dyn Stage,
        name: &str,
        values: &Values,
        inputs: &[ProbeInput],
    ) -> Result<ProbeOutput, Failure> {
        let work = self.folder.join("runs").join(name);
        let mut trial = Trial::new(&work).on(DeviceChoice::Cpu);
        for (parameter, value) in values {
            trial = trial.with(parameter, value.clone());
        }
        for (input, label, path) in inputs {
            trial = trial.labelled(input, label.clone(), path);
        }
        let mut output = ProbeOutput::new();
        match trial.run_until(stage, self.cancellation.clone()) {
            Ok(outcome) => {
                for (output_name, path) in outcome.outputs {
                    read(&format!("{name}/{output_name}"), &path, &mut output)?;
                }
            }
            Err(failure) if matches!(failure.kind, FailureKind::Input | FailureKind::Internal) => {
                // The folder is no part of the message.
                let message = failure.message.replace(&*self.folder.to_string_lossy(), "");
                output.insert(format!("{name}/refused"), message.into_bytes());
            }
            Err(failure) => return Err(failure),
        }
        fs::remove_dir_all(&work).map_err(|error| Failure::io("remove", &work, error))?;
        Ok(output)
    }
}

/// Reads the bytes of a file, or of all files below a folder, into `output`.
fn read(name: &str, path: &Path, output: &mut ProbeOutput) -> Result<(), Failure> {
    if !path.is_dir() {
        let bytes = fs::read(path).map_err(|error| Failure::io("read", path, error))?;
        output.insert(name.to_owned(), bytes);
        return Ok(());
    }
    for entry in fs::read_dir(path).map_err(|error| Failure::io("list", path, error))? {
        let entry = entry.map_err(|error| Failure::io("list", path, error))?;
        read(&format!("{name}/{}", entry.file_name().to_string_lossy()), &entry.path(), output)?;
    }
    Ok(())
}
