//! Checking everything that a store holds.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use serde::Serialize;

use super::Store;
use super::damage::{Check, Finding, ObjectState};
use super::layout::digest_of_path;
use super::record::{ActionRecord, OutputShape};
use super::walk::list;
use cwm_core::files::Result;
use cwm_core::{Digest, FileError, FileErrorKind, Key};

/// What a check of the store found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct VerifyReport {
    /// Objects that were hashed.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Action records that were read.
    pub actions: u64,
    /// Of these, whose content was let go: by `cwm gc`, or as `keep: false` says.
    pub dropped: u64,
    /// What is wrong, sorted by path.
    pub findings: Vec<Finding>,
    /// What is worth knowing and harms no result, sorted by path: a log that is gone.
    pub notes: Vec<Finding>,
}

/// How far a check is: bytes hashed, of so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyProgress {
    /// Bytes hashed.
    pub done: u64,
    /// Bytes in all.
    pub total: u64,
}

impl VerifyReport {
    /// Whether all is well. Notes do not count.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

impl Store {
    /// Hashes every object again, on all cores, and checks every manifest, tree and record. What is damaged is moved
    /// to `quarantine/`, never deleted; the next run then makes it again. On a store that cannot be written, it is
    /// only told.
    ///
    /// # Errors
    /// The system refuses to let us read.
    pub fn verify(&self, progress: impl Fn(VerifyProgress) + Sync) -> Result<VerifyReport> {
        self.verify_part(None, progress)
    }

    /// As [`Store::verify`], of what these results consist of alone: their records, outputs and logs.
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
                // Of one that cannot be read, that is found.
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
        // First, since the lock's own file may be what is wrong.
        let findings = self.verify_layout()?;
        let _shared = self.lock_shared(|_| {})?;
        let mut report = VerifyReport { findings, ..VerifyReport::default() };
        let mut good = self.verify_objects(&mut report, part, progress)?;
        self.verify_actions(&mut report, part, &mut good)?;
        self.report_tainted(&mut report)?;
        report.findings.sort_by(|a, b| a.path.cmp(&b.path));
        report.notes.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(report)
    }

    /// The objects that are what their names say.
    fn verify_objects(
        &self,
        report: &mut VerifyReport,
        part: Option<&Part>,
        progress: impl Fn(VerifyProgress) + Sync,
    ) -> Result<BTreeSet<Digest>> {
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
        let mut good = BTreeSet::new();
        for (digest, state) in checked {
            match state {
                Ok(ObjectState::Intact) => drop(good.insert(digest)),
                Ok(ObjectState::Missing) => {}
                Ok(ObjectState::Corrupt(damage)) => report.findings.extend(self.quarantine_corrupt(&damage)?),
                Err(error) => {
                    let problem = format!("cannot be checked: {error}");
                    report.findings.push(Finding::about(self.object_path(&digest), problem));
                }
            }
        }
        Ok(good)
    }

    fn verify_actions(
        &self,
        report: &mut VerifyReport,
        part: Option<&Part>,
        good: &mut BTreeSet<Digest>,
    ) -> Result<()> {
        // Lost content is told once for each record that names it, but a manifest is read once.
        let mut folders: BTreeMap<Digest, Vec<Digest>> = BTreeMap::new();
        for key in self.keys()?.into_iter().filter(|key| part.is_none_or(|part| part.keys.contains(key))) {
            for file in self.record_files(&key)? {
                report.actions += 1;
                let record = match file.read(&key) {
                    Ok(record) => record,
                    Err(FileError::Damaged { path, what }) => {
                        report.findings.push(self.quarantine(path, format!("is damaged: {what}"))?);
                        continue;
                    }
                    Err(error) if error.trouble() == FileErrorKind::TooNew => {
                        report.findings.push(Finding::about(file.path, "was not checked: a newer cwm wrote it"));
                        continue;
                    }
                    // Gone meanwhile.
                    Err(_) if fs::symlink_metadata(&file.path).is_err() => continue,
                    Err(error) => {
                        report.findings.push(self.quarantine(file.path, format!("cannot be used: {error}"))?);
                        continue;
                    }
                };
                let mut lost = BTreeSet::new();
                for output in record.outputs.values().filter(|output| output.outside.is_none()) {
                    if !self.is_good(good, &output.digest) {
                        lost.insert(output.digest);
                    } else if output.shape == OutputShape::Folder {
                        let children = match folders.entry(output.digest) {
                            Entry::Occupied(known) => known.into_mut(),
                            Entry::Vacant(new) => new.insert(self.verify_folder(report, &output.digest)?),
                        };
                        lost.extend(children.iter().filter(|child| !self.is_good(good, child)));
                    }
                }
                if record.dropped.is_some() {
                    // What it lacks was let go on purpose.
                    report.dropped += u64::from(!lost.is_empty());
                    continue;
                }
                if let Some(log) = record.log.filter(|log| !self.is_good(good, log)) {
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

    /// Whether an object is right: it was, or it is there by now. A run beside us stores content and then its record, so that
    /// a record may name what was not there when the objects were looked at.
    fn is_good(&self, good: &mut BTreeSet<Digest>, digest: &Digest) -> bool {
        let is_intact = || matches!(self.object_state(digest, None, Check::Hash), Ok(ObjectState::Intact));
        good.contains(digest) || is_intact() && good.insert(*digest)
    }

    /// What a good object that should be a manifest names; and whether its tree is right.
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

/// What of a store is checked, where it is not all of it.
#[derive(Default)]
struct Part {
    keys: BTreeSet<Key>,
    objects: BTreeSet<Digest>,
}
