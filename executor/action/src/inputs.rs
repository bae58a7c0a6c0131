//! The inputs of an action: found at the start, and checked for changes at the end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cwm_contract::{Failure, GroupInput};

use super::protocol::{ActionFailureKind, Failed};
use super::{ActionBody, ActionFile, Artifact, command_stage};
use cwm_core::{Error, FileError};
use cwm_store::external_files::{DigestCache, FileFingerprint};
use cwm_store::{OutputRecord, OutputSnapshot, Store};

/// The inputs of an action, found.
pub struct Inputs {
    /// By input name, each in the order of the plan.
    pub groups: BTreeMap<String, Vec<GroupInput>>,
    /// The files from outside among them, as they are at the start.
    outside: Vec<FileFingerprint>,
    /// The inputs in the store, by name, with their state in the file system at the start.
    stamps: Vec<(String, OutputRecord, OutputSnapshot)>,
    /// The inputs in the store, with their paths.
    pub stored: Vec<(PathBuf, OutputRecord)>,
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
        let mut found = Inputs { groups: BTreeMap::new(), outside: Vec::new(), stamps: Vec::new(), stored: Vec::new() };
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
                        if output.outside.is_some() && !store.contains(&path) {
                            found.outside.push(files.snapshot(&path)?);
                        }
                        let stamp = store.stamp(output, files).map_err(|error| of_input(name, error))?;
                        // After the stamp: what is changed from here on shows when the action has ended.
                        store.verify_intact(&stamp, files).map_err(|error| of_input(name, error))?;
                        found.stamps.push((name.clone(), output.clone(), stamp));
                        found.stored.push((path.clone(), output.clone()));
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
        for (_, _, stamp) in &self.stamps {
            store.quarantine_rewritten(stamp)?;
        }
        Ok(())
    }

    /// Every file from outside that the action reads.
    pub fn watched<'a>(&'a self, action: &'a ActionFile) -> impl Iterator<Item = &'a FileFingerprint> {
        self.outside.iter().chain(action.body.files())
    }

    /// Returns the failure of an action whose inputs changed since they were found: its result is not that of the inputs. The
    /// result lies in `out`.
    ///
    /// # Errors
    /// One cannot be read.
    pub fn changed(
        &self,
        store: &Store,
        files: &DigestCache,
        action: &ActionFile,
        out: &Path,
    ) -> Result<Option<Failed>, Error> {
        let is_command = matches!(action.body, ActionBody::Command { .. });
        // A command has copies of its other dependencies.
        let is_read = |file: &&FileFingerprint| !is_command || command_stage::is_linked(file);
        for snapshot in self.outside.iter().chain(action.body.files().into_iter().filter(is_read)) {
            if !snapshot.is_unchanged()? {
                let (file, changed) =
                    (snapshot.path.display(), if snapshot.path.exists() { "changed" } else { "was removed" });
                let problem = format!("{file} {changed} while the stage ran, so its result is not recorded");
                let hint = "run again once the file is at rest; what a command itself writes cannot be its input";
                let failure = Failure::input(problem).hint(hint);
                return Ok(Some((ActionFailureKind::Input, failure)));
            }
        }
        for (name, output, stamp) in &self.stamps {
            let now = store.stamp(output, files);
            if now.as_ref().is_ok_and(|now| now == stamp) {
                continue;
            }
            if let Some(link) = stamp.linked_below(out) {
                let shown = link.strip_prefix(out).unwrap_or(&link).display();
                let problem =
                    format!("it wrote `{shown}` as a hard link to its input in the store; its result is not recorded");
                let failure = Failure::input(problem).hint("write a copy: `cp` in place of `ln`");
                return Ok(Some((ActionFailureKind::Output, failure)));
            }
            if !now.is_ok_and(|now| stamp.unmodified_since(&now)) {
                store.quarantine_rewritten(stamp)?;
                let problem =
                    format!("its input `{name}` was changed in the store while it ran; its result is not recorded");
                let hint = "a command wrote into it, this one or another that reads the same: inputs are read-only, copy what \
                            must be changed; a run makes the input again";
                return Ok(Some((ActionFailureKind::Input, Failure::input(problem).hint(hint))));
            }
        }
        Ok(None)
    }
}
