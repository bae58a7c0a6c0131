//! The availability of the content that records name.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Store;
use super::damage::{Check, Damage, ObjectState};
use super::record::{ActionRecord, ExternalReference, OutputRecord, OutputShape};
use crate::external_files::DigestCache;
use cwm_core::files::Result;
use cwm_core::{Digest, FileError, Key, OutputDigests};

/// Content that a record names and that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingContent {
    /// The output.
    pub output: String,
    /// The content.
    pub digest: Digest,
    /// The damage of the file in its place.
    pub damage: Option<Damage>,
}

impl MissingContent {
    /// Describes content that cannot be read, as text that follows the files' names.
    pub fn describe(missing: &[MissingContent]) -> &'static str {
        let is_damaged = missing.iter().any(|missing| missing.damage.is_some());
        if is_damaged { "were changed since they were stored" } else { "are missing from the store" }
    }
}

impl Store {
    /// Returns what of a record's outputs is not available: objects that are not there or have the wrong size, and files from
    /// outside that are gone or changed. Empty means that the record may be used. The log does not count.
    ///
    /// Objects are looked at and not read: before they are read, call [`Store::missing_or_damaged`].
    ///
    /// # Errors
    /// A manifest is of a newer version, or a system call fails.
    pub fn missing(&self, record: &ActionRecord, digests: &DigestCache) -> Result<Vec<MissingContent>> {
        self.check_content(record, digests, Check::Size)
    }

    /// Does the same as [`Store::missing`], for content that is about to be read: content that is there and was changed since
    /// it was stored counts as well. An object without a valid seal, or with a ctime after that of the record, is hashed, and
    /// `digests` caches the digest.
    ///
    /// # Errors
    /// A manifest is of a newer version, or a system call fails.
    pub fn missing_or_damaged(&self, record: &ActionRecord, digests: &DigestCache) -> Result<Vec<MissingContent>> {
        let recorded = self.recorded_ns(&record.key)?;
        self.check_content(record, digests, Check::Seal(digests, recorded))
    }

    /// Moves the objects of an output that were changed since they were stored to the quarantine, so that they are missing.
    ///
    /// # Errors
    /// As [`Store::missing_or_damaged`], or an operation on the disk fails.
    pub fn quarantine_changed(&self, output: &OutputRecord, digests: &DigestCache) -> Result<()> {
        let found = self.incomplete_objects("", output, Check::Seal(digests, i64::MAX))?.into_iter();
        found.filter_map(|one| one.damage).try_for_each(|damage| self.quarantine_damaged(&damage).map(drop))
    }

    fn check_content(&self, record: &ActionRecord, digests: &DigestCache, check: Check) -> Result<Vec<MissingContent>> {
        let mut missing = Vec::new();
        for (name, output) in &record.outputs {
            if output.external.is_none() {
                missing.extend(self.incomplete_objects(name, output, check)?);
                continue;
            }
            let is_stored = self.object_size(&output.digest)? == Some(output.size);
            if !is_stored && self.find_external(output, digests)?.is_none() {
                missing.push(MissingContent { output: name.clone(), digest: output.digest, damage: None });
            }
        }
        Ok(missing)
    }

    /// Returns the result of `key` to use: the first of [`Store::candidates`] whose content is available.
    ///
    /// # Errors
    /// As [`Store::candidates`] and [`Store::missing`].
    pub fn available(
        &self,
        key: &Key,
        preferred: Option<&OutputDigests>,
        digests: &DigestCache,
    ) -> Result<Option<ActionRecord>> {
        for record in self.candidates(key, preferred)? {
            if self.missing(&record, digests)?.is_empty() {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    /// Returns the objects of the output `name` that are missing or damaged; only the manifest, if it is among them.
    fn incomplete_objects(&self, name: &str, output: &OutputRecord, check: Check) -> Result<Vec<MissingContent>> {
        let missing = |digest, damage| MissingContent { output: name.to_owned(), digest, damage };
        let objects: BTreeMap<Digest, u64> = match &output.shape {
            OutputShape::File { .. } => BTreeMap::from([(output.digest, output.size)]),
            OutputShape::Folder => {
                // Before the manifest is read: another may be put in its place.
                let stat = self.object_stat(&output.digest)?;
                match FileError::optional(self.manifest(&output.digest)) {
                    Ok(Some(manifest)) => manifest.files().values().map(|file| (file.digest, file.size)).collect(),
                    Ok(None) => return Ok(vec![missing(output.digest, None)]),
                    Err(FileError::Damaged { path, what }) => {
                        let damage = Damage { path, stat, what: format!("is damaged: {what}") };
                        return Ok(vec![missing(output.digest, Some(damage))]);
                    }
                    Err(error) => return Err(error),
                }
            }
        };
        let mut found = Vec::new();
        for (digest, size) in objects {
            match self.object_state(&digest, Some(size), check)? {
                ObjectState::Intact => {}
                ObjectState::Missing => found.push(missing(digest, None)),
                ObjectState::Damaged(damage) => found.push(missing(digest, Some(damage))),
            }
        }
        Ok(found)
    }

    /// Returns the path of an external file that still has the recorded content.
    pub(super) fn find_external(&self, output: &OutputRecord, digests: &DigestCache) -> Result<Option<PathBuf>> {
        let Some(ExternalReference { path, from_store }) = &output.external else { return Ok(None) };
        // Its own path, and the one as far from the store as that was.
        let moved = from_store.as_ref().map(|from_store| self.root().join(from_store));
        for path in [path.clone()].into_iter().chain(moved.filter(|moved| moved != path)) {
            if FileError::optional(digests.digest(&path))? == Some(output.digest) {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }
}
