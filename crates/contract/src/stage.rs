//! The trait that every stage implements.

use std::collections::BTreeMap;

use crate::{Brought, Context, Failure, Fault, Input, Output, ParameterSpec, Probed, Probing, Values};

/// A kind of stage.
///
/// What it writes may depend only on its inputs, its parameters and its own code: not on time, machine, paths,
/// thread count or device. So outputs carry no time stamps, sums run in a fixed order, and rows are sorted.
pub trait Stage: Send + Sync {
    /// The name in `stage:`.
    fn kind(&self) -> &'static str;

    /// What it does, in one sentence.
    fn about(&self) -> &'static str;

    /// Its inputs, the main one first.
    fn inputs(&self) -> Vec<Input>;

    /// Its outputs, the main one first.
    fn outputs(&self) -> Vec<Output>;

    /// Its parameters; by convention `Config::specs()`.
    fn parameters(&self) -> Vec<ParameterSpec>;

    /// What is wrong with these (well-typed, complete) parameters, beyond their types.
    fn check(&self, _values: &Values) -> Vec<Fault> {
        Vec::new()
    }

    /// What is wrong with being given just these of its inputs, where their counts alone cannot say it: of two optional
    /// ones it needs one, for instance. A phrase that fits after the stage's name.
    fn check_inputs(&self, _given: &[&str]) -> Option<String> {
        None
    }

    /// Parameters that these values make no use of. They stay out of the key, so that changing them reruns nothing, and a
    /// secret among them is not looked for.
    fn idle(&self, _values: &Values) -> Vec<&'static str> {
        Vec::new()
    }

    /// What it wants of the machine when the pipeline does not say.
    fn needs(&self, _values: &Values) -> Needs {
        Needs::default()
    }

    /// Whether it computes where [`Context::device`] says, so that `device:` may be written for it.
    fn uses_devices(&self) -> bool {
        false
    }

    /// How much there is to do, so that `cwm run --dry-run` can say what it will take from what earlier runs took.
    /// `inputs` are the bytes of each input that is given, as far as they are known. `None` where it cannot be told.
    fn work(&self, _values: &Values, inputs: &BTreeMap<String, Option<u64>>) -> Option<Work> {
        let units = inputs.values().copied().sum::<Option<u64>>()? as f64;
        (units > 0.0).then(|| Work::new(String::new(), units))
    }

    /// The separately hashed parts of the code (see `docs/design/fingerprint.md`) that these parameters rest on, by
    /// name; `None` means all of them.
    fn parts(&self, _values: &Values) -> Option<Vec<String>> {
        None
    }

    /// For stages that only bring in what is elsewhere (a download): what, in order. The key is then made of the sums of
    /// those things as far as they are known, in place of code and parameters.
    fn brings(&self, _values: &Values) -> Option<Vec<Brought>> {
        None
    }

    /// A small run of its own computation with these parameters, so that it can be seen whether a change of code changes
    /// what comes out (`docs/design/accept.md`); `None` where there is none. Best is its own [`Stage::run`] on a miniature
    /// input, by [`Probing::run`]: then all of it is looked at.
    ///
    /// # Errors
    /// A [`Failure`] in words; the stage's result is recorded all the same, without a probe.
    fn probe(&self, _probing: &Probing) -> Result<Option<Probed>, Failure> {
        Ok(None)
    }

    /// Does the work: reads the inputs, writes the outputs where [`Context::output`] says.
    ///
    /// # Errors
    /// A [`Failure`] in words. Panics are bugs, and are caught by the process boundary.
    fn run(&self, context: &Context) -> Result<(), Failure>;
}

/// An amount of work of one kind of stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// Only runs of one sort are compared: of one model family, for instance.
    pub sort: String,
    /// Time grows with this, and so do the bytes of outputs that `bytes` does not name.
    pub units: f64,
    /// Bytes of memory that this work takes beyond what a run of its sort takes anyway; 0 if all take the same.
    pub memory: u64,
    /// About how many bytes outputs will have, by name, where those do not grow with `units`. What earlier runs wrote for
    /// each byte of that decides in the end.
    pub bytes: BTreeMap<String, f64>,
}

impl Work {
    /// So many units of a sort, with which all outputs grow; memory is what it is.
    pub fn new(sort: String, units: f64) -> Self {
        Work { sort, units, memory: 0, bytes: BTreeMap::new() }
    }
}

/// A share of the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Needs {
    /// Cores; `None` means as many as there are.
    pub cpu: Option<u32>,
    /// Accelerators, or a part of one.
    pub gpu: f64,
    /// Bytes of memory; 0 means it does not say.
    pub memory: u64,
}

impl Default for Needs {
    fn default() -> Self {
        Needs { cpu: Some(1), gpu: 0.0, memory: 0 }
    }
}
