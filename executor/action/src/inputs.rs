//! The inputs of an action: found at the start, and checked for changes at the end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cwm_contract::GroupInput;

use super::protocol::{ActionFailure, ActionFailureKind};
use super::{ActionBody, ActionFile, Artifact, command_stage};
use cwm_core::{Error, FileError};
use cwm_store::external_files::{DigestCache, FileFingerprint};
use cwm_store::{Content, OutputRecord, OutputSnapshot, Store};

/// The inputs of an action, found.
pub struct Inputs {
    /// By input name, each in the order of the plan.
    pub groups: BTreeMap<String, Vec<GroupInput>>,
    /// The files from outside among them, as they are at the start.
    outside: Vec<FileFingerprint>,
    /// The inputs in the store.
    stored: Vec<StoredInput>,
}

/// An input in the store.
struct StoredInput {
    name: String,
    path: PathBuf,
    output: OutputRecord,
    /// Its state in the file system at the start.
    snapshot: OutputSnapshot,
}

/// Adds the name of the input to an error about content of the store.
fn of_input(name: &str, error: FileError) -> Error {
    let mut error = Error::from(error);
    error.message = format!("its input `{name}` cannot be read: {}", error.message);
    error
}

impl Inputs {
    /// Finds them.
    ///
    /// # Errors
    /// One is not there, or cannot be read.
    pub fn find(store: &Store, files: &DigestCache, action: &ActionFile) -> Result<Self, Error> {
        let mut found = Inputs { groups: BTreeMap::new(), outside: Vec::new(), stored: Vec::new() };
        for (name, group) in &action.inputs {
            let mut paths = Vec::with_capacity(group.len());
            for input in group {
                let path = match &input.artifact {
                    Artifact::Outside(snapshot) => {
                        found.outside.push(snapshot.clone());
                        snapshot.path.clone()
                    }
                    Artifact::Output(output) => {
                        let path = store.path_of(output, files).map_err(|error| of_input(name, error))?;
                        if store.contains(&path) {
                            let snapshot = store.snapshot(output).map_err(|error| of_input(name, error))?;
                            // After the snapshot: what is changed from here on shows when the action has ended.
                            store.verify_intact(&snapshot, files).map_err(|error| of_input(name, error))?;
                            let (name, output) = (name.clone(), output.clone());
                            found.stored.push(StoredInput { name, path: path.clone(), output, snapshot });
                        } else {
                            found.outside.push(files.snapshot(&path)?);
                        }
                        path
                    }
                };
                paths.push(GroupInput { label: input.label.clone(), path });
            }
            found.groups.insert(name.clone(), paths);
        }
        Ok(found)
    }

    /// Quarantines the inputs that were rewritten in the store since they were found.
    ///
    /// # Errors
    /// The store cannot be read or written.
    pub fn quarantine_rewritten(&self, store: &Store) -> Result<(), Error> {
        for input in &self.stored {
            store.quarantine_rewritten(&input.snapshot)?;
        }
        Ok(())
    }

    /// Every file from outside that the action reads.
    pub fn watched<'a>(&'a self, action: &'a ActionFile) -> impl Iterator<Item = &'a FileFingerprint> {
        self.outside.iter().chain(action.body.files())
    }

    /// Returns the content of the file from outside, or in the store, at `path`, if the action reads it.
    pub fn content(&self, action: &ActionFile, path: &Path) -> Option<Content> {
        if let Some(outside) = self.watched(action).find(|snapshot| snapshot.path == path) {
            return Some(Content::External(outside.clone()));
        }
        let stored = self.stored.iter().find(|input| input.path == path);
        stored.map(|input| Content::InStore(input.output.clone()))
    }

    /// Fails if an input changed since it was found: the result, which lies in `out`, is then not that of the inputs.
    ///
    /// # Errors
    /// One changed, or cannot be read.
    pub fn verify_unchanged(&self, store: &Store, action: &ActionFile, out: &Path) -> Result<(), ActionFailure> {
        let is_command = matches!(action.body, ActionBody::Command { .. });
        // A command has copies of its other dependencies.
        let is_read = |file: &&FileFingerprint| !is_command || command_stage::is_linked(file);
        for snapshot in self.outside.iter().chain(action.body.files().into_iter().filter(is_read)) {
            if !snapshot.is_unchanged()? {
                let (file, changed) =
                    (snapshot.path.display(), if snapshot.path.exists() { "changed" } else { "was removed" });
                let problem = format!("{file} {changed} while the stage ran, so its result is not recorded");
                let hint = "run again once the file is at rest; what a command itself writes cannot be its input";
                return Err(ActionFailure::new(ActionFailureKind::Input, problem).hint(hint));
            }
        }
        for StoredInput { name, output, snapshot, .. } in &self.stored {
            let now = store.snapshot(output);
            if now.as_ref().is_ok_and(|now| now == snapshot) {
                continue;
            }
            if let Some(link) = snapshot.linked_below(out) {
                let shown = link.strip_prefix(out).unwrap_or(&link).display();
                let problem =
                    format!("it wrote `{shown}` as a hard link to its input in the store; its result is not recorded");
                let failure = ActionFailure::new(ActionFailureKind::Output, problem);
                return Err(failure.hint("write a copy: `cp` in place of `ln`"));
            }
            if !now.is_ok_and(|now| store.is_unmodified(snapshot, &now)) {
                store.quarantine_rewritten(snapshot)?;
                let problem =
                    format!("its input `{name}` was changed in the store while it ran; its result is not recorded");
                let hint = "a command wrote into it, this one or another that reads the same: inputs are read-only, copy what \
                            must be changed; a run makes the input again";
                return Err(ActionFailure::new(ActionFailureKind::Input, problem).hint(hint));
            }
        }
        Ok(())
    }
}
