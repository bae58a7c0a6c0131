//! The trait that every stage implements.

use std::collections::BTreeMap;

use crate::{
    Context, ExternalSource, Failure, Input, Label, Output, ParameterError, ParameterSpec, ProbeContext, ProbeOutput,
    Values,
};

/// A kind of stage.
///
/// Its outputs may depend only on its inputs, its parameters and its own code, and not on time, machine, paths, thread
/// count or device. So outputs carry no time stamps, sums run in a fixed order, and rows are sorted.
pub trait Stage: Send + Sync {
    /// Returns the name in `stage:`.
    fn kind(&self) -> &'static str;

    /// Describes the stage in one sentence.
    fn description(&self) -> &'static str;

    /// Returns its inputs, the main one first.
    fn inputs(&self) -> Vec<Input>;

    /// Returns its outputs, the main one first.
    fn outputs(&self) -> Vec<Output>;

    /// Returns its parameters; by convention `Config::specs()`.
    fn parameters(&self) -> Vec<ParameterSpec>;

    /// Checks well-typed, complete parameters beyond their types.
    fn check(&self, _values: &Values) -> Vec<ParameterError> {
        Vec::new()
    }

    /// Checks which inputs are connected, where their counts alone cannot: of two optional ones a stage may need one,
    /// for instance. Returns a phrase that fits after the stage's name.
    fn check_inputs(&self, _inputs: &[&str]) -> Option<String> {
        None
    }

    /// Checks the set of inputs of one cell, which may depend on its parameters. They have passed
    /// [`Stage::check`].
    fn check_inputs_for(&self, _values: &Values, _inputs: &[&str]) -> Option<String> {
        None
    }

    /// Checks the parameters of a cell that name sources of its inputs. `inputs` has the labels of the sources of each, by its
    /// name.
    fn check_labels(&self, _values: &Values, _inputs: &[(&str, Vec<&Label>)]) -> Vec<ParameterError> {
        Vec::new()
    }

    /// Returns the parameters that have no effect given the others. They are excluded from the key, so changing them does
    /// not invalidate the result, and a secret among them is not read.
    fn unused_parameters(&self, _values: &Values) -> Vec<&'static str> {
        Vec::new()
    }

    /// Returns the resources that it takes when the pipeline does not say.
    fn needs(&self, _values: &Values) -> Needs {
        Needs::default()
    }

    /// Returns true if it computes where [`Context::device`] says, so that `device:` may be written for it.
    fn uses_devices(&self) -> bool {
        false
    }

    /// Estimates the amount of work, from which `cwm run --dry-run` predicts times and sizes by earlier runs.
    /// `inputs` are the bytes of each input that is given, as far as they are known. Returns `None` if it cannot be
    /// estimated.
    fn work(&self, _values: &Values, inputs: &BTreeMap<String, Option<u64>>) -> Option<Work> {
        let units = inputs.values().copied().sum::<Option<u64>>()? as f64;
        (units > 0.0).then(|| Work::new(String::new(), units))
    }

    /// Describes for `cwm run --dry-run` what a run would do beyond its sizes, such as how many questions it would ask. The inputs
    /// exist, the folder of checkpoints may be missing, and nothing may be written. Most stages have no description.
    ///
    /// # Errors
    /// The run would fail with the same.
    fn preview(&self, _context: &Context) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    /// Returns the names of the separately hashed parts of the code (see `docs/design/fingerprint.md`) that these
    /// parameters depend on; `None` means all of them.
    fn code_parts(&self, _values: &Values) -> Option<Vec<String>> {
        None
    }

    /// Returns the external sources of a stage that only fetches or copies them, such as a download, in order. The key is
    /// then made of their checksums as far as they are known, in place of code and parameters.
    fn external_sources(&self, _values: &Values) -> Option<Vec<ExternalSource>> {
        None
    }

    /// Returns false if a second run with these parameters may give other bytes, as of a stage that asks a service outside. Its
    /// result is recorded, and `cwm run --check` leaves it out.
    fn is_repeatable(&self, _values: &Values) -> bool {
        true
    }

    /// Runs a miniature of its own computation with these parameters, which shows whether a change of code changes the
    /// result (`docs/design/accept.md`); `None` if there is none. Best is its own [`Stage::run`] on a miniature input, by
    /// [`ProbeContext::run`], since that covers all of its code.
    ///
    /// # Errors
    /// The probe failed; the stage's result is recorded all the same, without a probe.
    fn probe(&self, _context: &ProbeContext) -> Result<Option<ProbeOutput>, Failure> {
        Ok(None)
    }

    /// Runs the stage: reads the inputs and writes the outputs at the paths of [`Context::output`].
    ///
    /// # Errors
    /// The stage failed. Panics are bugs, and are caught by the process boundary.
    fn run(&self, context: &Context) -> Result<(), Failure>;
}

/// An estimated amount of work of one kind of stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// The group of runs that are compared with each other: those of one model family, for instance.
    pub group: String,
    /// The amount that time grows with, and the bytes of outputs that `bytes` does not name.
    pub units: f64,
    /// Bytes of memory that this work takes beyond the usual of its group; 0 if all take the same.
    pub memory: u64,
    /// Rough sizes of outputs in bytes, by name, where they do not grow with `units`. Predictions scale them by the sizes
    /// that earlier runs wrote.
    pub bytes: BTreeMap<String, f64>,
}

impl Work {
    /// Work of so many units; all outputs grow with them, and memory does not.
    pub fn new(group: String, units: f64) -> Self {
        Work { group, units, memory: 0, bytes: BTreeMap::new() }
    }
}

/// A share of the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Needs {
    /// Cores; `None` means as many as there are.
    pub cpu: Option<u32>,
    /// Accelerators, or a part of one.
    pub gpu: f64,
    /// Bytes of memory; 0 means unknown.
    pub memory: u64,
}

impl Default for Needs {
    fn default() -> Self {
        Needs { cpu: Some(1), gpu: 0.0, memory: 0 }
    }
}
