//! Whether what a record names can be had.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::Store;
use super::integrity::{Corruption, ObjectState};
use super::record::{ActionRecord, ExternalReference, OutputRecord, OutputShape};
use crate::external_files::DigestCache;
use cwm_core::files::Result;
use cwm_core::{Digest, FileError, FileErrorKind, Key};

/// Content that a record names and that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingContent {
    /// Of which output.
    pub output: String,
    /// Which content.
    pub digest: Digest,
    /// For a file from outside, where it should be: it is gone or was changed.
    pub outside: Option<PathBuf>,
    /// What is wrong with what stands there in its place.
    pub damage: Option<Corruption>,
}

impl MissingContent {
    /// What to say of content that cannot be read.
    pub fn describe(missing: &[MissingContent]) -> &'static str {
        let is_damaged = missing.iter().any(|missing| missing.damage.is_some());
        if is_damaged { "were changed since they were stored" } else { "are missing from the store" }
    }
}

/// Content that cannot be read, with what is wrong with what stands there in its place.
type Lacking = BTreeMap<Digest, Option<Corruption>>;

impl Store {
    /// What of a record's outputs cannot be had: objects that are not there or have the wrong size, and files from
    /// outside that are gone or changed. Empty means that the record may be used. The log does not count.
    ///
    /// Objects are looked at and not read: before somebody reads them, ask [`Store::missing_or_corrupt`].
    ///
    /// # Errors
    /// A manifest is of a newer version, or the system refuses.
    pub fn missing(&self, record: &ActionRecord, outside: &DigestCache) -> Result<Vec<MissingContent>> {
        self.lacking(record, outside, |output| {
            Ok(self.missing_objects(output)?.into_iter().map(|digest| (digest, None)).collect())
        })
    }

    /// As [`Store::missing`], for whoever is about to read them: content that is there and was changed since it was stored
    /// counts as well. What does not bear its seal any more is hashed, which `outside` remembers.
    ///
    /// # Errors
    /// A manifest is of a newer version, or the system refuses.
    pub fn missing_or_corrupt(&self, record: &ActionRecord, outside: &DigestCache) -> Result<Vec<MissingContent>> {
        self.lacking(record, outside, |output| self.missing_or_corrupt_objects(output, outside))
    }

    /// Sets aside what of an output was changed since it was stored, so that it is simply missing.
    ///
    /// # Errors
    /// As [`Store::missing_or_corrupt`], or the disk refuses.
    pub fn set_changed_aside(&self, output: &OutputRecord, outside: &DigestCache) -> Result<()> {
        let found = self.missing_or_corrupt_objects(output, outside)?;
        found.into_values().flatten().try_for_each(|damage| self.quarantine_corrupt(&damage).map(drop))
    }

    fn lacking(
        &self,
        record: &ActionRecord,
        outside: &DigestCache,
        objects: impl Fn(&OutputRecord) -> Result<Lacking>,
    ) -> Result<Vec<MissingContent>> {
        let mut missing = Vec::new();
        for (name, output) in &record.outputs {
            if let Some(path) = self.missing_outside(output, outside)? {
                let (output, digest) = (name.clone(), output.digest);
                missing.push(MissingContent { output, digest, outside: Some(path), damage: None });
            } else if output.outside.is_none() {
                let one = |(digest, damage)| MissingContent { output: name.clone(), digest, outside: None, damage };
                missing.extend(objects(output)?.into_iter().map(one));
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
        outside: &DigestCache,
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
                let manifest = match self.manifest(&output.digest) {
                    // What is in the folder cannot be told, so it cannot be had.
                    Err(FileError::Damaged { .. }) => return Ok(BTreeSet::from([output.digest])),
                    manifest => manifest?,
                };
                for file in manifest.files().values() {
                    if self.object_size(&file.digest)? != Some(file.size) {
                        missing.insert(file.digest);
                    }
                }
            }
            OutputShape::File { .. } => {}
        }
        Ok(missing)
    }

    /// Objects of an output that are not there, or are not what they should be; the manifest alone, if it is among them.
    fn missing_or_corrupt_objects(&self, output: &OutputRecord, outside: &DigestCache) -> Result<Lacking> {
        let look_at = |digest: &Digest, size| -> Result<Option<(Digest, Option<Corruption>)>> {
            Ok(match self.object_state(digest, size, outside)? {
                ObjectState::Intact => None,
                ObjectState::Gone => Some((*digest, None)),
                ObjectState::Damaged(damage) => Some((*digest, Some(damage))),
            })
        };
        let is_folder = output.shape == OutputShape::Folder;
        if let Some(own) = look_at(&output.digest, (!is_folder).then_some(output.size))? {
            return Ok(Lacking::from([own]));
        }
        if !is_folder {
            return Ok(Lacking::new());
        }
        match self.manifest(&output.digest) {
            Ok(manifest) => {
                let files = manifest.files().values();
                files.filter_map(|file| look_at(&file.digest, Some(file.size)).transpose()).collect()
            }
            Err(FileError::Damaged { path, what }) => {
                Ok(Lacking::from([(output.digest, Some(Corruption::of(path, None, format!("is damaged: {what}"))))]))
            }
            Err(error) => Err(error),
        }
    }

    /// Where a file from outside should be, if neither it nor an equal object is there.
    fn missing_outside(&self, output: &OutputRecord, outside: &DigestCache) -> Result<Option<PathBuf>> {
        let Some(reference) = &output.outside else { return Ok(None) };
        if self.object_size(&output.digest)? == Some(output.size) {
            return Ok(None);
        }
        for path in self.places_of(reference) {
            match outside.snapshot(&path) {
                Ok(snapshot) if snapshot.digest == output.digest => return Ok(None),
                Ok(_) => {}
                Err(error) if error.trouble() == FileErrorKind::Missing => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Some(reference.path.clone()))
    }

    /// Where a file from outside may be: where it was, or as far from the store as it was.
    pub(super) fn places_of(&self, reference: &ExternalReference) -> impl Iterator<Item = PathBuf> {
        let moved = reference.from_store.as_ref().map(|path| self.root().join(path));
        let moved = moved.filter(|moved| *moved != reference.path);
        std::iter::once(reference.path.clone()).chain(moved)
    }
}
