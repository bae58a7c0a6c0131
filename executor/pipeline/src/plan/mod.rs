//! What is to be done: every cell with its parameters, inputs and outputs, resolved and checked.
//!
//! [`load`] reads a pipeline file in steps that never look back: text, spec (what was written), plan.

mod axes;
mod bind;
mod build;
mod cells;
mod command;
mod dependencies;
mod device;
mod export;
mod file_references;
mod generated_files;
mod group;
mod input_sources;
mod join;
mod load;
mod needs;
mod order;
mod parameters;
mod ports;
mod references;
mod retry;
mod select;
mod substitute;
#[cfg(test)]
mod tests;
mod undeclared_deps;
mod unused_axes;
mod unused_variables;
mod variables;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use cwm_contract::{DeviceChoice, Format, Label, Needs, Shape, Stage, Value, Values};

use cwm_core::{CodeOf, Error, Place, Sources};
use parameters::Written;

pub use command::RUN as COMMAND_RUN;
pub use load::load;
pub use retry::RetryOptions;
pub use select::SelectError;
pub use unused_variables::UnusedVariable;

/// A pipeline, resolved.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The pipeline file, absolute.
    pub file: PathBuf,
    /// Its folder, to which its paths are relative.
    pub folder: PathBuf,
    /// True if a variable was given by `--set`.
    pub sets: bool,
    /// Stages in the order of the file.
    pub stages: Vec<StagePlan>,
    /// Cells, each after all that it reads; otherwise in the order of the file and of the axes.
    pub cells: Vec<Cell>,
    /// What is copied out after a run.
    pub exports: Vec<Export>,
    /// Variables that nothing uses.
    pub unused_variables: Vec<UnusedVariable>,
    /// The texts that places point into.
    pub sources: Sources,
}

/// A stage of the file.
#[derive(Clone, Debug)]
pub struct StagePlan {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// Names of its axes: first those of the stage that `each` names, then its own.
    pub axes: Vec<String>,
    /// Its cells, as indices into [`Plan::cells`].
    pub cells: Vec<usize>,
    /// Where its name is written.
    pub place: Place,
}

/// One piece of work: a stage without axes, or one cell of its matrix.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Its address.
    pub label: Label,
    /// Its kind of stage.
    pub kind: String,
    /// What it runs.
    pub body: Body,
    /// All parameters, normalised, with defaults; paths absolute. Of a command: its `with:`, `run` included.
    pub values: Values,
    /// Where each parameter that was given is written.
    pub given: BTreeMap<String, Written>,
    /// What it reads, in the order in which the kind declares its inputs; only what is given.
    pub inputs: Vec<InputPlan>,
    /// What it writes, the main output first.
    pub outputs: Vec<OutputPlan>,
    /// Its share of the machine.
    pub needs: Needs,
    /// How long it takes at most, for whoever plans machines; no limit of its own.
    pub time: Option<Duration>,
    /// Where it should compute, if its stage asks.
    pub device: DeviceChoice,
    /// How often it is tried, and when an attempt is ended.
    pub retry: RetryOptions,
    /// True if its files stay when all that reads them is done.
    pub keep: bool,
    /// Where its stage's name is written.
    pub place: Place,
    /// Returns the fingerprint of the code of a kind of stage.
    pub code_of: CodeOf,
}

impl Cell {
    /// The fingerprint of the code that its result would depend on today, as it enters the key; none where its key holds no code.
    ///
    /// # Errors
    /// The program has no fingerprint of its kind.
    pub fn code(&self) -> Result<Option<BTreeMap<String, String>>, Error> {
        match self.body {
            Body::Stage(stage) if stage.external_sources(&self.values).is_none() => {
                (self.code_of)(&self.kind, stage.code_parts(&self.values).as_deref()).map(Some)
            }
            Body::Stage(_) | Body::Command(_) => Ok(None),
        }
    }

    /// The stage that it runs; none for a command.
    pub fn stage(&self) -> Option<&'static dyn Stage> {
        match self.body {
            Body::Stage(stage) => Some(stage),
            Body::Command(_) => None,
        }
    }
}

/// The work of a cell.
#[derive(Clone)]
pub enum Body {
    /// A stage that is compiled in.
    Stage(&'static dyn Stage),
    /// A shell command.
    Command(CommandPlan),
}

/// A command of the user's.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandPlan {
    /// For `sh -euc`, verbatim.
    pub run: String,
    /// The other keys of `with:`: scalars, by the name of the variable.
    pub environment: BTreeMap<String, Value>,
    /// Files that it rests on, sorted by name.
    pub deps: Vec<Dependency>,
    /// Variables of the executor's environment that it sees.
    pub env: Vec<String>,
}

/// A file that a command rests on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependency {
    /// Path relative to the pipeline's folder, with `/`: where the command finds it.
    pub name: String,
    /// Absolute path.
    pub path: PathBuf,
}

/// An input of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct InputPlan {
    /// Its name.
    pub name: String,
    /// What it must hold.
    pub format: Format,
    /// True if it takes a group. If not, there is exactly one source.
    pub group: bool,
    /// True if it is a list: a group whose order counts, and whose labels do not.
    pub is_list: bool,
    /// What it is given: a list in its order, all else sorted by label.
    pub sources: Vec<Source>,
    /// Where this is written.
    pub place: Place,
}

impl InputPlan {
    /// What stands in a key for the label of the source numbered `ordinal`: of a list its place, of what takes one
    /// artifact nothing.
    pub fn key_label(&self, ordinal: usize) -> String {
        match &self.sources[..] {
            [_] if self.is_list => String::new(),
            _ if self.is_list => ordinal.to_string(),
            sources if self.group => sources[ordinal].label.to_string(),
            _ => String::new(),
        }
    }
}

/// One artifact that an input is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its label; none is twice in one group.
    pub label: Label,
    /// Where a file's path is written; of what a stage makes, where the input is.
    pub place: Place,
    /// Where it comes from.
    pub from: Origin,
}

/// Where an artifact comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// An output of another cell.
    Cell {
        /// The cell, as an index into [`Plan::cells`].
        index: usize,
        /// The output.
        port: String,
    },
    /// A file from outside, absolute.
    File(PathBuf),
}

/// An output of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputPlan {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub format: Format,
    /// File or folder.
    pub shape: Shape,
}

/// Something that is copied out after a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The cell, as an index into [`Plan::cells`].
    pub cell: usize,
    /// Its output.
    pub port: String,
    /// Where to, absolute.
    pub path: PathBuf,
    /// Where this is written.
    pub place: Place,
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Body::Stage(stage) => f.debug_tuple("Stage").field(&stage.kind()).finish(),
            Body::Command(command) => command.fmt(f),
        }
    }
}

impl Plan {
    /// These cells and all that they rest on, in the plan's order, none twice.
    pub fn ancestors(&self, cells: &[usize]) -> Vec<usize> {
        let mut wanted = vec![false; self.cells.len()];
        for &cell in cells {
            if let Some(slot) = wanted.get_mut(cell) {
                *slot = true;
            }
        }
        // A cell comes after all that it reads, so one pass from the end sees everything.
        for index in (0..self.cells.len()).rev() {
            if wanted[index] {
                for source in self.cells[index].inputs.iter().flat_map(|input| &input.sources) {
                    if let Origin::Cell { index, .. } = source.from {
                        wanted[index] = true;
                    }
                }
            }
        }
        (0..wanted.len()).filter(|&index| wanted[index]).collect()
    }
}
