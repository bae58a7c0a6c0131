//! The plan: every cell with its parameters, inputs and outputs, resolved and checked.
//!
//! [`load`] reads a pipeline file in three steps: text, spec (the contents of the file), plan.

mod bind;
mod build;
mod cells;
mod command;
mod dependencies;
mod export;
mod file_references;
mod group;
mod input_sources;
mod load;
mod order;
mod parameters;
mod references;
mod select;
mod settings;
mod stage_kind;
mod substitute;
#[cfg(test)]
mod tests;
mod undeclared_deps;
mod unused;
mod variables;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use cwm_contract::{Format, Label, Shape, Stage, Value, Values};

use cwm_core::{CodeOf, Error, Place, SourceTexts};
use parameters::ParameterSource;

pub use command::RUN as COMMAND_RUN;
pub use export::{COLLISION_HINT, export_folders};
pub use load::load;
pub use settings::{CellSettings, RetryOptions};
pub use variables::set_values;

/// A pipeline, resolved.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The pipeline file, absolute.
    pub file: PathBuf,
    /// Its folder, to which its paths are relative.
    pub folder: PathBuf,
    /// The values of `--set`, as [`set_values`] returns them.
    pub sets: BTreeMap<String, String>,
    /// Stages in the order of the file.
    pub stages: Vec<StagePlan>,
    /// Cells, each after all that it reads; otherwise in the order of the file and of the axes.
    pub cells: Vec<Cell>,
    /// The exports.
    pub exports: Vec<ExportPlan>,
    /// A warning about each variable that nothing uses.
    pub unused_variables: Vec<String>,
    /// The texts that places point into.
    pub sources: SourceTexts,
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
}

/// One piece of work: a stage without axes, or one cell of its matrix.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Its address.
    pub label: Label,
    /// Its kind of stage.
    pub kind: String,
    /// Its work.
    pub body: Body,
    /// All parameters, normalised, with defaults; paths absolute. Of a command: its `with:`, `run` and `shell` included.
    pub values: Values,
    /// The place of each parameter that was given.
    pub explicit: BTreeMap<String, ParameterSource>,
    /// The folders in place of which its parameters have their files.
    pub folders: Vec<PathBuf>,
    /// Its inputs, in the order of the kind's declarations, without those that are not given.
    pub inputs: Vec<InputPlan>,
    /// Its outputs, the main one first.
    pub outputs: Vec<OutputPlan>,
    /// Its share of the machine, its device, its retries and its limits.
    pub settings: CellSettings,
    /// True if its files stay when all of its readers are done.
    pub keep: bool,
    /// The place of its stage's name.
    pub place: Place,
    /// Returns the fingerprint of the code of a kind of stage.
    pub code_of: CodeOf,
}

impl Cell {
    /// Returns the fingerprint of its code as it enters the key. None if its key has no code.
    ///
    /// # Errors
    /// The program has no fingerprint of its kind.
    pub fn code(&self) -> Result<Option<BTreeMap<String, String>>, Error> {
        let stage = self.stage().filter(|stage| stage.external_sources(&self.values).is_none());
        stage.map(|stage| (self.code_of)(&self.kind, stage.code_parts(&self.values).as_deref())).transpose()
    }

    /// Returns the stage that it runs; none for a command.
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
    /// The shell: a program and the arguments before the command.
    pub shell: Vec<String>,
    /// The text for the shell, verbatim.
    pub run: String,
    /// The keys of `with:` that are variables: scalars, by the name of the variable.
    pub environment: BTreeMap<String, Value>,
    /// Files that it depends on, sorted: paths relative to the pipeline's folder, with `/`, where the command finds them.
    pub deps: Vec<String>,
    /// Variables of the executor's environment that it sees.
    pub env: Vec<String>,
}

/// An input of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct InputPlan {
    /// Its name.
    pub name: String,
    /// True if it takes a group. If not, there is exactly one source.
    pub group: bool,
    /// True if it is a list: a group whose order counts, and whose labels do not.
    pub is_list: bool,
    /// Its sources: those of a list in its order, all others sorted by label.
    pub sources: Vec<InputArtifact>,
}

impl InputPlan {
    /// Returns its name, and the labels of its sources.
    pub fn labels(&self) -> (&str, Vec<&Label>) {
        (&self.name, self.sources.iter().map(|source| &source.label).collect())
    }

    /// Returns the label in the key of the source with this number: its position in a list, and nothing for a single artifact.
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
pub struct InputArtifact {
    /// Its label; none is twice in one group.
    pub label: Label,
    /// The place of a file's path, else of the input.
    pub place: Place,
    /// Its origin.
    pub from: ArtifactOrigin,
}

/// The origin of an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ArtifactOrigin {
    /// An output of another cell.
    Cell {
        /// The cell, as an index into [`Plan::cells`].
        index: usize,
        /// The output.
        output_name: String,
    },
    /// An external file, absolute.
    File(PathBuf),
}

/// An output of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputPlan {
    /// Its name.
    pub name: String,
    /// Its format.
    pub format: Format,
    /// File or folder.
    pub shape: Shape,
}

/// An output that is copied after a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportPlan {
    /// The cell, as an index into [`Plan::cells`].
    pub cell: usize,
    /// The name of its output.
    pub output: String,
    /// The absolute path.
    pub path: PathBuf,
    /// Its place.
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
    /// Returns these cells and all that they depend on, in the plan's order, each once.
    pub fn ancestors(&self, cells: &[usize]) -> Vec<usize> {
        let mut wanted = vec![false; self.cells.len()];
        cells.iter().for_each(|&cell| wanted[cell] = true);
        // A cell comes after all that it reads, so one pass from the end sees everything.
        for index in (0..self.cells.len()).rev() {
            if wanted[index] {
                for source in self.cells[index].inputs.iter().flat_map(|input| &input.sources) {
                    if let ArtifactOrigin::Cell { index, .. } = source.from {
                        wanted[index] = true;
                    }
                }
            }
        }
        (0..wanted.len()).filter(|&index| wanted[index]).collect()
    }
}
