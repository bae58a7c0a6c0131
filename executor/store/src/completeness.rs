//! The availability of the content that records name.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Store;
use super::damage::{Check, Corruption, ObjectState};
use super::record::{ActionRecord, ExternalReference, OutputRecord};
use crate::external_files::DigestCache;
use cwm_core::files::Result;
use cwm_core::{Digest, FileError, FileErrorKind, Key};

/// Content that a record names and that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingContent {
    /// The output.
    pub output: String,
    /// The content.
    pub digest: Digest,
    /// The path of a file from outside that is gone or was changed.
    pub outside: Option<PathBuf>,
    /// The damage of the file in its place.
    pub damage: Option<Corruption>,
}

impl MissingContent {
    /// Describes content that cannot be read, in words that follow the files' names.
    pub fn describe(missing: &[MissingContent]) -> &'static str {
        let is_damaged = missing.iter().any(|missing| missing.damage.is_some());
        if is_damaged { "were changed since they were stored" } else { "are missing from the store" }
    }
}

impl Store {
    /// Returns what of a record's outputs is not available: objects that are not there or have the wrong size, and files from
    /// outside that are gone or changed. Empty means that the record may be used. The log does not count.
    ///
    /// Objects are looked at and not read: before they are read, call [`Store::missing_or_corrupt`].
    ///
    /// # Errors
    /// A manifest is of a newer version, or the system refuses.
    pub fn missing(&self, record: &ActionRecord, outside: &DigestCache) -> Result<Vec<MissingContent>> {
        self.unusable(record, outside, Check::Size)
    }

    /// As [`Store::missing`], for content that is about to be read: content that is there and was changed since it was stored
    /// counts as well. An object without a valid seal is hashed, and `outside` caches the digest.
    ///
    /// # Errors
    /// A manifest is of a newer version, or the system refuses.
    pub fn missing_or_corrupt(&self, record: &ActionRecord, outside: &DigestCache) -> Result<Vec<MissingContent>> {
        self.unusable(record, outside, Check::Seal(outside))
    }

    /// Moves the objects of an output that were changed since they were stored to the quarantine, so that they are missing.
    ///
    /// # Errors
    /// As [`Store::missing_or_corrupt`], or the disk refuses.
    pub fn quarantine_changed(&self, output: &OutputRecord, outside: &DigestCache) -> Result<()> {
        let found = self.unusable_objects("", output, Check::Seal(outside))?.into_iter();
        found.filter_map(|one| one.damage).try_for_each(|damage| self.quarantine_corrupt(&damage).map(drop))
    }

    fn unusable(&self, record: &ActionRecord, outside: &DigestCache, check: Check) -> Result<Vec<MissingContent>> {
        let mut missing = Vec::new();
        for (name, output) in &record.outputs {
            if let Some(path) = self.missing_outside(output, outside)? {
                let (output, digest) = (name.clone(), output.digest);
                missing.push(MissingContent { output, digest, outside: Some(path), damage: None });
            } else if output.outside.is_none() {
                missing.extend(self.unusable_objects(name, output, check)?);
            }
        }
        Ok(missing)
    }

    /// Returns true if a record has a log that is not in the store.
    pub(super) fn has_lost_log(&self, record: &ActionRecord) -> Result<bool> {
        match &record.log {
            Some(log) => Ok(self.object_size(log)?.is_none()),
            None => Ok(false),
        }
    }

    /// Returns the result of `key` to use: the first of [`Store::candidates`] whose content is available.
    ///
    /// # Errors
    /// As [`Store::candidates`] and [`Store::missing`].
    pub fn available(
        &self,
        key: &Key,
        preferred: Option<&BTreeMap<String, Digest>>,
        outside: &DigestCache,
    ) -> Result<Option<ActionRecord>> {
        for record in self.candidates(key, preferred)? {
            if self.missing(&record, outside)?.is_empty() {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    /// Returns the objects of the output `name` that are missing or corrupt; only the manifest, if it is among them.
    fn unusable_objects(&self, name: &str, output: &OutputRecord, check: Check) -> Result<Vec<MissingContent>> {
        let missing = |digest, damage| MissingContent { output: name.to_owned(), digest, outside: None, damage };
        let problem = |digest: Digest, size: Option<u64>| {
            Ok(match self.object_state(&digest, size, check)? {
                ObjectState::Intact => None,
                ObjectState::Missing => Some(missing(digest, None)),
                ObjectState::Corrupt(damage) => Some(missing(digest, Some(damage))),
            })
        };
        let is_folder = output.shape.is_folder();
        let own = problem(output.digest, (!is_folder).then_some(output.size))?;
        if own.is_some() || !is_folder {
            return Ok(own.into_iter().collect());
        }
        match self.manifest(&output.digest) {
            Ok(manifest) => {
                let files: BTreeMap<Digest, u64> =
                    manifest.files().values().map(|file| (file.digest, file.size)).collect();
                files.into_iter().filter_map(|(digest, size)| problem(digest, Some(size)).transpose()).collect()
            }
            Err(FileError::Damaged { path, what }) => {
                let damage = Corruption { path, seen: None, what: format!("is damaged: {what}") };
                Ok(vec![missing(output.digest, Some(damage))])
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the recorded path of a file from outside, if neither it nor an equal object is there.
    fn missing_outside(&self, output: &OutputRecord, outside: &DigestCache) -> Result<Option<PathBuf>> {
        let Some(reference) = &output.outside else { return Ok(None) };
        let is_stored = self.object_size(&output.digest)? == Some(output.size);
        let is_there = is_stored || self.find_outside(output, outside)?.is_some();
        Ok((!is_there).then(|| reference.path.clone()))
    }

    /// Returns the path of a file from outside that still has the recorded content.
    pub(super) fn find_outside(&self, output: &OutputRecord, outside: &DigestCache) -> Result<Option<PathBuf>> {
        for path in output.outside.iter().flat_map(|reference| self.places_of(reference)) {
            match outside.snapshot(&path) {
                Ok(snapshot) if snapshot.digest == output.digest => return Ok(Some(path)),
                Ok(_) => {}
                Err(error) if error.kind() == FileErrorKind::Missing => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Returns the paths at which a file from outside may be: its own, and one as far from the store as that was.
    pub(super) fn places_of(&self, reference: &ExternalReference) -> impl Iterator<Item = PathBuf> {
        let moved = reference.from_store.as_ref().map(|path| self.root().join(path));
        let moved = moved.filter(|moved| *moved != reference.path);
        std::iter::once(reference.path.clone()).chain(moved)
    }
}
