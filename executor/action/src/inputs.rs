//! The inputs of an action: found at the start, and checked for changes at the end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cwm_contract::GroupInput;

use super::attempt::Attempt;
use super::protocol::{ActionFailure, ActionFailureKind};
use super::{ActionInput, Artifact, command_stage};
use cwm_core::{Error, FileError};
use cwm_store::{FileFingerprint, OutputContent, OutputRecord, OutputSnapshot, Store};

/// The inputs of an action, found.
pub struct Inputs {
    /// By input name, each in the order of the plan.
    pub groups: BTreeMap<String, Vec<GroupInput>>,
    /// The external files that the action reads, as they are at the start.
    external_files: Vec<FileFingerprint>,
    /// The inputs in the store.
    stored: Vec<StoredInput>,
}

/// The names that the pipeline has for the inputs in the store.
pub struct InputNames {
    store: String,
    /// Path and name.
    inputs: Vec<(String, String)>,
}

impl InputNames {
    /// Puts the names in place of the paths in a text of a stage, which has only paths.
    pub fn replace_paths(&self, mut text: String) -> String {
        if text.contains(&self.store) {
            self.inputs.iter().for_each(|(path, name)| text = text.replace(path, name));
        }
        text
    }
}

/// An input in the store.
struct StoredInput {
    name: String,
    path: PathBuf,
    output: OutputRecord,
    /// Its state in the file system at the start.
    snapshot: OutputSnapshot,
}

impl Inputs {
    /// Finds them.
    ///
    /// # Errors
    /// One is not there, or cannot be read.
    pub fn find(attempt: &Attempt<'_>) -> Result<Self, Error> {
        let Attempt { action, .. } = attempt;
        let mut found = Inputs { groups: BTreeMap::new(), external_files: Vec::new(), stored: Vec::new() };
        // A command has copies of its other dependencies.
        let is_read = |file: &&&FileFingerprint| attempt.stage.is_some() || command_stage::is_linked(file);
        found.external_files.extend(action.body.files().iter().filter(is_read).map(|&file| file.clone()));
        for (name, group) in &action.inputs {
            let mut inputs = Vec::with_capacity(group.len());
            for ActionInput { label, artifact } in group {
                let path = match artifact {
                    Artifact::External(snapshot) => {
                        found.external_files.push(snapshot.clone());
                        snapshot.path.clone()
                    }
                    Artifact::Output(output) => found.add_stored(attempt, name, output).map_err(|error| {
                        let error = Error::from(error);
                        Error { message: format!("its input `{name}` cannot be read: {}", error.message), ..error }
                    })?,
                };
                inputs.push(GroupInput { label: label.clone(), path });
            }
            found.groups.insert(name.clone(), inputs);
        }
        Ok(found)
    }

    fn add_stored(&mut self, attempt: &Attempt<'_>, name: &str, output: &OutputRecord) -> Result<PathBuf, FileError> {
        let Attempt { store, digests, .. } = attempt;
        let path = store.path_of(output, digests)?;
        if store.contains(&path) {
            let snapshot = store.snapshot(output)?;
            // After the snapshot: what is changed from here on shows when the action has ended.
            store.verify_intact(&snapshot, digests)?;
            let (name, output) = (name.to_owned(), output.clone());
            self.stored.push(StoredInput { name, path: path.clone(), output, snapshot });
        } else {
            self.external_files.push(digests.snapshot(&path)?);
        }
        Ok(path)
    }

    /// Returns the names of those in the store.
    pub fn names(&self, store: &Store) -> InputNames {
        let inputs = self.groups.values().flatten().filter(|input| store.contains(&input.path));
        let name = |input: &GroupInput| (input.path.display().to_string(), format!("`{}`", input.label));
        InputNames { store: store.root().display().to_string(), inputs: inputs.map(name).collect() }
    }

    /// Quarantines the inputs that were rewritten in the store since they were found.
    ///
    /// # Errors
    /// The store cannot be read or written.
    pub fn quarantine_rewritten(&self, store: &Store) -> Result<(), Error> {
        let mut stored = self.stored.iter();
        Ok(stored.try_for_each(|input| store.verify_unmodified(&input.output, &input.snapshot).map(drop))?)
    }

    /// Returns the content of the external file, or in the store, at `path`, if the action reads it.
    pub fn content(&self, path: &Path) -> Option<OutputContent> {
        if let Some(file) = self.external_files.iter().find(|snapshot| snapshot.path == path) {
            return Some(OutputContent::External(file.clone()));
        }
        let stored = self.stored.iter().find(|input| input.path == path);
        stored.map(|input| OutputContent::InStore(input.output.clone()))
    }

    /// Fails if an input changed since it was found: the result is then not that of the inputs.
    ///
    /// # Errors
    /// One changed, or cannot be read.
    pub fn verify_unchanged(&self, attempt: &Attempt<'_>) -> Result<(), ActionFailure> {
        let store = &attempt.store;
        for snapshot in &self.external_files {
            if !snapshot.is_unchanged()? {
                let changed = if snapshot.path.exists() { "changed" } else { "was removed" };
                let file = snapshot.path.display();
                let problem = format!("{file} {changed} while the stage ran, so its result is not recorded");
                let hint =
                    "run again once nothing writes to the file; what a command itself writes cannot be its input";
                return Err(ActionFailure::new(ActionFailureKind::Input, problem).hint(hint));
            }
        }
        for StoredInput { name, output, snapshot, .. } in &self.stored {
            if !store.verify_unmodified(output, snapshot)? {
                let problem =
                    format!("its input `{name}` was changed in the store while it ran; its result is not recorded");
                let hint = "a command wrote into it, this one or another that reads the same: inputs are read-only, copy what \
                            must be changed; a run computes the input again";
                return Err(ActionFailure::new(ActionFailureKind::Input, problem).hint(hint));
            }
        }
        Ok(())
    }
}
