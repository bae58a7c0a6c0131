//! The check of everything in a store.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use serde::Serialize;

use super::Store;
use super::damage::{Check, Finding, ObjectState};
use super::layout::digest_of_path;
use super::mtime_seal;
use super::record::{ActionRecord, OutputShape};
use super::tainted_results::DamageTimes;
use super::walk::list;
use cwm_core::files::Result;
use cwm_core::{Digest, FileError, Key};

/// The outcome of a check of the store.
#[derive(Clone, Debug, Default, Serialize)]
pub struct VerifyReport {
    /// Objects that were hashed.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Action records that were read.
    pub actions: u64,
    /// Of these, those whose content was evicted.
    pub dropped: u64,
    /// The damage, sorted by path.
    pub findings: Vec<Finding>,
    /// Facts that are no damage to a result, sorted by path: a log that is gone.
    pub notes: Vec<Finding>,
}

/// The progress of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyProgress {
    /// Bytes hashed.
    pub done: u64,
    /// Bytes in all.
    pub total: u64,
}

impl VerifyReport {
    /// Returns true if there is no damage. Notes do not count.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

impl Store {
    /// Hashes every object again, on all cores, and checks every manifest, tree and record. Damaged files are moved to
    /// `quarantine/`, never deleted; the next run then makes them again. On a store that cannot be written, they are only
    /// reported.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn verify(&self, progress: impl Fn(VerifyProgress) + Sync) -> Result<VerifyReport> {
        self.verify_part(None, progress)
    }

    /// As [`Store::verify`], for the records, outputs and logs of these results alone.
    ///
    /// # Errors
    /// As [`Store::verify`].
    pub fn verify_results(
        &self,
        results: &[ActionRecord],
        progress: impl Fn(VerifyProgress) + Sync,
    ) -> Result<VerifyReport> {
        let mut part = Part::default();
        for record in results {
            part.keys.insert(record.key);
            part.objects.extend(record.log);
            for output in record.outputs.values() {
                part.objects.insert(output.digest);
                // A manifest that cannot be read is found as damaged.
                if output.shape == OutputShape::Folder
                    && let Ok(manifest) = self.manifest(&output.digest)
                {
                    part.objects.extend(manifest.files().values().map(|file| file.digest));
                }
            }
        }
        self.verify_part(Some(&part), progress)
    }

    fn verify_part(&self, part: Option<&Part>, progress: impl Fn(VerifyProgress) + Sync) -> Result<VerifyReport> {
        // First, since the lock's own file may be wrong.
        let findings = self.verify_layout()?;
        let _shared = self.lock_shared(|_| {})?;
        let mut report = VerifyReport { findings, ..VerifyReport::default() };
        let (mut intact, damaged) = self.verify_objects(&mut report, part, progress)?;
        self.verify_actions(&mut report, part, &mut intact)?;
        report.notes.extend(self.tainted_results(&damaged)?);
        report.findings.sort_by(|a, b| a.path.cmp(&b.path));
        report.notes.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(report)
    }

    /// Returns the intact objects, and the damaged ones.
    fn verify_objects(
        &self,
        report: &mut VerifyReport,
        part: Option<&Part>,
        progress: impl Fn(VerifyProgress) + Sync,
    ) -> Result<(BTreeSet<Digest>, DamageTimes)> {
        let others = list(&self.root().join("objects"))?.into_iter().filter(|(shard, _)| shard.len() != 2);
        report.findings.extend(others.map(|(_, path)| Finding::about(path, "is not part of a store")));
        let mut objects = Vec::new();
        for (_, path) in self.in_shards("objects")? {
            match digest_of_path(&path) {
                Some(digest) if part.is_none_or(|part| part.objects.contains(&digest)) => {
                    objects.push((digest, fs::symlink_metadata(&path).map_or(0, |metadata| metadata.len())));
                }
                Some(_) => {}
                None => report.findings.push(Finding::about(path, "is not named like an object")),
            }
        }
        report.objects = objects.len() as u64;
        report.bytes = objects.iter().map(|(_, size)| size).sum();
        let (done, total) = (AtomicU64::new(0), report.bytes);
        let check = |(digest, size)| {
            let state = self.object_state(&digest, None, Check::Hash);
            let done = done.fetch_add(size, Ordering::Relaxed) + size;
            progress(VerifyProgress { done, total });
            (digest, state)
        };
        let checked: Vec<(Digest, Result<ObjectState>)> = objects.into_par_iter().map(check).collect();
        let (mut intact, mut damaged) = (BTreeSet::new(), DamageTimes::new());
        for (digest, state) in checked {
            match state {
                Ok(ObjectState::Intact) => drop(intact.insert(digest)),
                Ok(ObjectState::Missing) => {}
                Ok(ObjectState::Corrupt(damage)) => {
                    let Some(finding) = self.quarantine_corrupt(&damage)? else { continue };
                    report.findings.push(finding);
                    // A valid seal is that of a failing disk.
                    let mut times = damage.seen.iter().map(|stat| stat.mtime_ns);
                    damaged.insert(digest, times.find(|time| !mtime_seal::has_valid_seal(&digest, *time)));
                }
                Err(error) => {
                    let problem = format!("cannot be checked: {error}");
                    report.findings.push(Finding::about(self.object_path(&digest), problem));
                }
            }
        }
        Ok((intact, damaged))
    }

    fn verify_actions(
        &self,
        report: &mut VerifyReport,
        part: Option<&Part>,
        intact: &mut BTreeSet<Digest>,
    ) -> Result<()> {
        // Lost content is reported once for each record that names it, but a manifest is read once.
        let mut folders: BTreeMap<Digest, Vec<Digest>> = BTreeMap::new();
        for key in self.keys()?.into_iter().filter(|key| part.is_none_or(|part| part.keys.contains(key))) {
            for file in self.record_files(&key)? {
                report.actions += 1;
                let record = match file.read(&key) {
                    Ok(record) => record,
                    Err(error) => {
                        report.findings.extend(self.unreadable(file.path, error)?);
                        continue;
                    }
                };
                let mut lost = BTreeSet::new();
                for output in record.outputs.values().filter(|output| output.outside.is_none()) {
                    if !self.is_intact(intact, &output.digest) {
                        lost.insert(output.digest);
                    } else if output.shape == OutputShape::Folder {
                        let children = match folders.entry(output.digest) {
                            Entry::Occupied(known) => known.into_mut(),
                            Entry::Vacant(new) => new.insert(self.verify_folder(report, &output.digest)?),
                        };
                        lost.extend(children.iter().filter(|child| !self.is_intact(intact, child)));
                    }
                }
                if record.evicted.is_some() {
                    // It was evicted on purpose.
                    report.dropped += u64::from(!lost.is_empty());
                    continue;
                }
                if let Some(log) = record.log.filter(|log| !self.is_intact(intact, log)) {
                    let what = format!("has lost its log {log}; a run of `{}` with `--force` writes one", record.label);
                    report.notes.push(Finding::about(file.path.clone(), what));
                }
                for digest in lost {
                    let what = format!("names {digest}, which is not in the store (`{}` makes it)", record.label);
                    report.findings.push(Finding::about(file.path.clone(), what));
                }
            }
        }
        Ok(())
    }

    /// Quarantines a record that cannot be read; nothing if it is gone by now.
    fn unreadable(&self, path: PathBuf, error: FileError) -> Result<Option<Finding>> {
        let what = match error {
            FileError::Damaged { what, .. } => format!("is damaged: {what}"),
            FileError::TooNew { .. } => return Ok(Some(Finding::about(path, "was not checked: a newer cwm wrote it"))),
            _ if fs::symlink_metadata(&path).is_err() => return Ok(None),
            error => format!("cannot be used: {error}"),
        };
        self.quarantine(path, what).map(Some)
    }

    /// Returns true if an object was intact, or is by now: a run at the same time stores content and then its record, so that a
    /// record may name objects that were not there when all were checked.
    fn is_intact(&self, intact: &mut BTreeSet<Digest>, digest: &Digest) -> bool {
        let is_now = || matches!(self.object_state(digest, None, Check::Hash), Ok(ObjectState::Intact));
        intact.contains(digest) || is_now() && intact.insert(*digest)
    }

    /// Checks the tree of an intact manifest, and returns its files.
    fn verify_folder(&self, report: &mut VerifyReport, digest: &Digest) -> Result<Vec<Digest>> {
        let manifest = match self.manifest(digest) {
            Ok(manifest) => manifest,
            Err(error @ (FileError::Damaged { .. } | FileError::TooNew { .. })) => {
                let what = format!("cannot be read as a folder: {error}");
                report.findings.push(Finding::about(self.object_path(digest), what));
                return Ok(Vec::new());
            }
            Err(error) => return Err(error),
        };
        let tree = self.tree_folder(digest);
        if fs::symlink_metadata(&tree).is_ok() && !self.tree_is_right(digest, &manifest) {
            report.findings.push(self.quarantine(tree, "does not hold the links that its manifest says".into())?);
        }
        Ok(manifest.files().values().map(|file| file.digest).collect())
    }
}

/// The part of a store to check.
#[derive(Default)]
struct Part {
    keys: BTreeSet<Key>,
    objects: BTreeSet<Digest>,
}
