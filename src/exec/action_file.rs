//! The self-contained description of one action, from the executor to the process that does it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cwm_contract::{Format, Label, Resources, Shape, Values};
use serde::{Deserialize, Serialize};

use crate::digest::{Digest, Key};
use crate::error::Error;
use crate::key::Components;
use crate::outside::Snapshot;

/// Version of this file.
pub const ACTION_FILE_FORMAT: u32 = 1;

/// `work/<key>/action.json`: all that `cwm exec KEY` reads. It names objects of the store by digest and files from
/// outside by path; it knows nothing of the YAML. Secrets stand here only by the digest in `components`.
#[derive(Debug, Serialize, Deserialize)]
pub struct ActionFile {
    /// [`ACTION_FILE_FORMAT`].
    pub format: u32,
    /// The key; always `components.key()`.
    pub key: Key,
    /// Who asked for it: the first cell of the plan that has this key.
    pub label: Label,
    /// The pipeline's file stem.
    pub pipeline: String,
    /// What the key is made of.
    pub components: Components,
    /// What to run.
    pub body: ActionBody,
    /// Inputs by name, each sorted by label.
    pub inputs: BTreeMap<String, Vec<ActionInput>>,
    /// Whether an input is a group, even if it holds one artifact.
    pub groups: Vec<String>,
    /// Outputs to make.
    pub outputs: BTreeMap<String, ActionOutput>,
    /// Share of the machine.
    pub resources: Resources,
    /// Why it runs, in words, one cause a line.
    pub cause: Vec<String>,
    /// Run even if the store has a result.
    pub force: bool,
}

/// What an action runs.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionBody {
    /// A stage of this binary.
    Stage {
        /// All parameters, paths absolute, secrets as their source.
        values: Values,
        /// Files given as parameters, as they were when the key was made.
        files: Vec<Snapshot>,
    },
    /// A shell command.
    Command {
        /// Goes verbatim to `sh -euc`.
        run: String,
        /// Environment from `with:`.
        environment: BTreeMap<String, String>,
        /// Names of variables to take over from the executor's environment, with their values.
        inherited: BTreeMap<String, String>,
        /// Dependencies by relative path.
        deps: BTreeMap<PathBuf, Snapshot>,
    },
}

/// One artifact of an input.
#[derive(Debug, Serialize, Deserialize)]
pub struct ActionInput {
    /// The label under which the stage sees it.
    pub label: Label,
    /// Its content.
    pub digest: Digest,
    /// A file or a folder.
    pub shape: ArtifactShape,
    /// Where it is, if outside the store.
    pub outside: Option<Snapshot>,
}

/// One output.
#[derive(Debug, Serialize, Deserialize)]
pub struct ActionOutput {
    /// What it holds.
    pub format: Format,
    /// A file or a folder.
    pub shape: ArtifactShape,
}

/// A file with its extension, or a folder; the stored form of [`Shape`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactShape {
    /// A file and its extension, which may be empty.
    File(String),
    /// A folder.
    Folder,
}

impl From<Shape> for ArtifactShape {
    fn from(shape: Shape) -> Self {
        match shape {
            Shape::File(extension) => ArtifactShape::File(extension.to_owned()),
            Shape::Folder => ArtifactShape::Folder,
        }
    }
}

impl ArtifactShape {
    /// The name of an artifact called `name`: with its extension, if it has one.
    pub fn file_name(&self, name: &str) -> String {
        match self {
            ArtifactShape::File(extension) if !extension.is_empty() => format!("{name}.{extension}"),
            _ => name.to_owned(),
        }
    }
}

impl ActionFile {
    /// Reads and checks an action file.
    ///
    /// # Errors
    /// It cannot be read, is of a newer format, is not what its key says, or was made by other code than this binary.
    pub fn read(path: &Path, key: &Key) -> Result<Self, Error> {
        let bytes = std::fs::read(path).map_err(|error| Error::io("read the action file", path, error))?;
        let action: ActionFile = serde_json::from_slice(&bytes)
            .map_err(|error| Error::internal(format!("{} is not an action file of this version: {error}", path.display())))?;
        if action.format != ACTION_FILE_FORMAT {
            return Err(Error::internal(format!(
                "{} has format {}, this cwm reads {ACTION_FILE_FORMAT}",
                path.display(),
                action.format
            )));
        }
        if action.key != *key || action.components.key() != *key {
            return Err(Error::internal(format!("{} does not describe the action {key}", path.display())));
        }
        Ok(action)
    }
}
