//! Whether what a record names can be had.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::Store;
use super::error::{Result, Trouble};
use super::record::{ActionRecord, OutputRecord, OutputShape, OutsideReference};
use crate::digest::{Digest, Key};
use crate::outside::Files;

/// Content that a record names and that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Of which output.
    pub output: String,
    /// Which content.
    pub digest: Digest,
    /// For a file from outside, where it should be: it is gone or was changed.
    pub outside: Option<PathBuf>,
}

impl Store {
    /// What of a record's outputs cannot be had: objects that are not there or have the wrong size, and files from
    /// outside that are gone or changed. Empty means that the record may be used. The log does not count.
    ///
    /// # Errors
    /// A manifest is damaged or of a newer version, or the system refuses.
    pub fn missing(&self, record: &ActionRecord, outside: &Files) -> Result<Vec<Missing>> {
        let mut missing = Vec::new();
        for (name, output) in &record.outputs {
            if let Some(path) = self.missing_outside(output, outside)? {
                missing.push(Missing { output: name.clone(), digest: output.digest, outside: Some(path) });
            } else if output.outside.is_none() {
                let lacking = self.missing_objects(output)?;
                missing.extend(lacking.into_iter().map(|digest| Missing {
                    output: name.clone(),
                    digest,
                    outside: None,
                }));
            }
        }
        Ok(missing)
    }

    /// The log of a record, if it is not in the store.
    pub(super) fn lost_log(&self, record: &ActionRecord) -> Result<Option<Digest>> {
        Ok(match record.log {
            Some(log) if self.object_size(&log)?.is_none() => Some(log),
            _ => None,
        })
    }

    /// The result of `key` to use: the first of [`Store::candidates`] whose content can be had.
    ///
    /// # Errors
    /// As [`Store::candidates`] and [`Store::missing`].
    pub fn available(
        &self,
        key: &Key,
        preferred: Option<&BTreeMap<String, Digest>>,
        outside: &Files,
    ) -> Result<Option<ActionRecord>> {
        for record in self.candidates(key, preferred)? {
            if self.missing(&record, outside)?.is_empty() {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    /// Objects of an output that are not there, manifests first.
    fn missing_objects(&self, output: &OutputRecord) -> Result<BTreeSet<Digest>> {
        let mut missing = BTreeSet::new();
        let there = self.object_size(&output.digest)?;
        match output.shape {
            OutputShape::File { .. } if there != Some(output.size) => {
                missing.insert(output.digest);
            }
            OutputShape::Folder if there.is_none() => {
                missing.insert(output.digest);
            }
            OutputShape::Folder => {
                for file in self.manifest(&output.digest)?.files().values() {
                    if self.object_size(&file.digest)? != Some(file.size) {
                        missing.insert(file.digest);
                    }
                }
            }
            OutputShape::File { .. } => {}
        }
        Ok(missing)
    }

    /// Where a file from outside should be, if neither it nor an equal object is there.
    fn missing_outside(&self, output: &OutputRecord, outside: &Files) -> Result<Option<PathBuf>> {
        let Some(reference) = &output.outside else { return Ok(None) };
        if self.object_size(&output.digest)? == Some(output.size) {
            return Ok(None);
        }
        for path in self.places_of(reference) {
            match outside.snapshot(&path) {
                Ok(snapshot) if snapshot.digest == output.digest => return Ok(None),
                Ok(_) => {}
                Err(error) if error.trouble() == Trouble::Missing => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Some(reference.path.clone()))
    }

    /// Where a file from outside may be: where it was, or as far from the store as it was.
    pub(super) fn places_of(&self, reference: &OutsideReference) -> impl Iterator<Item = PathBuf> {
        let moved = reference.from_store.as_ref().map(|path| self.root().join(path));
        let moved = moved.filter(|moved| *moved != reference.path);
        std::iter::once(reference.path.clone()).chain(moved)
    }
}
