//! The self-contained description of one action, from the executor to the process that does it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cwm_contract::{ExpectedChecksum, Format, Label, Resources, Values};
use serde::{Deserialize, Serialize};

use cwm_core::{Components, Digest, Error, Key};
use cwm_store::{FileFingerprint, OutputRecord, OutputShape, WorkFolder};

/// Version of this file.
pub const ACTION_FILE_FORMAT: u32 = 1;

/// `work/<key>/action.json`: all that `cwm exec KEY` reads. It names objects of the store by digest and files from
/// outside by path; it is independent of the YAML. Secrets are in it only as digests in `components`.
#[derive(Debug, Serialize, Deserialize)]
pub struct ActionFile {
    /// [`ACTION_FILE_FORMAT`].
    pub format: u32,
    /// The key; always `components.key()`.
    pub key: Key,
    /// The cell that requested it: the first cell of the plan that has this key.
    pub label: Label,
    /// The pipeline's file stem.
    pub pipeline: String,
    /// The components of the key.
    pub components: Components,
    /// The work.
    pub body: ActionBody,
    /// Inputs by name, each in the order of the plan.
    pub inputs: BTreeMap<String, Vec<ActionInput>>,
    /// The inputs that are groups, even if they hold one artifact.
    pub groups: Vec<String>,
    /// Outputs to make.
    pub outputs: BTreeMap<String, ActionOutput>,
    /// Share of the machine.
    pub resources: Resources,
    /// The causes for which it runs, one a line.
    pub cause: Vec<String>,
    /// Run even if the store has a result.
    pub force: bool,
    /// The external files that are executable, if the action runs on a node that does not see them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub executable: Vec<PathBuf>,
    /// The recorded outputs by name, where the action is only compared with them.
    #[serde(default)]
    pub recorded: Option<BTreeMap<String, OutputRecord>>,
}

/// The work of an action.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionBody {
    /// A stage of this binary.
    Stage {
        /// All parameters, paths absolute, secrets as their source.
        values: Values,
        /// Files given as parameters, as they were when the key was made.
        files: Vec<FileFingerprint>,
        /// The checksums that pins have for what it fetches.
        #[serde(default)]
        expected: Vec<ExpectedChecksum>,
    },
    /// A shell command.
    Command {
        /// The shell: a program and the arguments before the command.
        shell: Vec<String>,
        /// Goes verbatim to the shell.
        run: String,
        /// Environment from `with:`.
        environment: BTreeMap<String, String>,
        /// Names of variables to take over from the environment. Their values may be secrets and stand nowhere.
        inherited: Vec<String>,
        /// Dependencies by relative path.
        deps: BTreeMap<PathBuf, FileFingerprint>,
    },
}

impl ActionBody {
    /// Returns the external files that are no inputs: parameters of a stage, dependencies of a command.
    pub fn files(&self) -> Vec<&FileFingerprint> {
        match self {
            ActionBody::Stage { files, .. } => files.iter().collect(),
            ActionBody::Command { deps, .. } => deps.values().collect(),
        }
    }
}

/// One artifact of an input.
#[derive(Debug, Serialize, Deserialize)]
pub struct ActionInput {
    /// The label under which the stage sees it.
    pub label: Label,
    /// The artifact itself.
    pub artifact: Artifact,
}

/// Something that a stage reads.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Artifact {
    /// The output of an action.
    Output(OutputRecord),
    /// An external file, as it was when the key was made.
    External(FileFingerprint),
}

impl Artifact {
    /// Returns the digest of its content.
    pub fn digest(&self) -> Digest {
        match self {
            Artifact::Output(output) => output.digest,
            Artifact::External(snapshot) => snapshot.digest,
        }
    }

    /// Returns the name of a link to it called `base`: with its extension, if it has one.
    pub fn file_name(&self, base: &str) -> String {
        match self {
            Artifact::Output(output) => output.shape.file_name(base),
            Artifact::External(snapshot) => {
                let extension = snapshot.path.extension().unwrap_or_default().to_string_lossy().into_owned();
                OutputShape::File { extension }.file_name(base)
            }
        }
    }
}

/// One output.
#[derive(Debug, Serialize, Deserialize)]
pub struct ActionOutput {
    /// The format of its content.
    pub format: Format,
    /// A file or a folder.
    pub shape: OutputShape,
    /// True if it may be a folder although `shape` is a file.
    #[serde(default)]
    pub or_folder: bool,
}

impl ActionFile {
    /// Returns the external files that it reads.
    pub fn external_files(&self) -> impl Iterator<Item = &FileFingerprint> {
        let inputs = self.inputs.values().flatten().filter_map(|input| match &input.artifact {
            Artifact::External(file) => Some(file),
            Artifact::Output(_) => None,
        });
        inputs.chain(self.body.files())
    }

    /// Reads and checks an action file.
    ///
    /// # Errors
    /// It cannot be read, is of a newer format, or does not belong to the key of its folder.
    pub fn read(work: &WorkFolder) -> Result<Self, Error> {
        let action: ActionFile = work.read_action()?;
        let refused = |problem: String| Err(Error::internal(format!("{} {problem}", work.action_file().display())));
        if action.format != ACTION_FILE_FORMAT {
            return refused(format!("has format {}, this cwm reads {ACTION_FILE_FORMAT}", action.format));
        }
        if action.key != work.key || action.components.key() != work.key {
            return refused(format!("does not describe the action {}", work.key));
        }
        Ok(action)
    }
}
