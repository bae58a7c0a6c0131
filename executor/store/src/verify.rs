//! The check of everything in a store.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use serde::Serialize;

use super::Store;
use super::damage::{Check, Defect, ObjectState};
use super::layout::digest_of_path;
use super::manifest::Manifest;
use super::mtime_seal;
use super::record::{ActionRecord, RunInfo};
use super::walk::list_folder;
use cwm_core::files::{Result, STORE_FOLDERS};
use cwm_core::{Digest, FileError, Key};

/// The outcome of a check of the store.
#[derive(Clone, Debug, Default, Serialize)]
pub struct VerifyReport {
    /// Objects that were hashed.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Action records that were read.
    pub records: u64,
    /// Records among these whose content was evicted.
    pub evicted: u64,
    /// The damage, sorted by path.
    pub findings: Vec<Defect>,
    /// Facts that are no damage to a result, sorted by path: a log that is gone.
    pub notes: Vec<Defect>,
    /// The stages of the results whose content is not complete.
    #[serde(skip)]
    pub incomplete: BTreeSet<String>,
}

impl Store {
    /// Hashes every object again, on all cores, and checks every manifest and record; or those of `results` alone. Damaged files
    /// are moved to `quarantine/`, never deleted; the next run then makes them again. Changed trees are made again at once. On a
    /// store that cannot be written, all is only reported. `progress` is called with the bytes that were hashed so far, and with
    /// all.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn verify(&self, results: Option<&[ActionRecord]>, progress: impl Fn(u64, u64) + Sync) -> Result<VerifyReport> {
        // First, since the lock's own file may be wrong.
        let findings = self.verify_layout()?;
        let _shared = self.lock_shared(|_| {})?;
        let mut report = VerifyReport { findings, ..VerifyReport::default() };
        let subset = results.map(|results| self.subset(results));
        let (mut intact, damaged) = self.verify_objects(&mut report, subset.as_ref(), progress)?;
        self.verify_records(&mut report, subset.as_ref(), &mut intact, &damaged)?;
        report.findings.sort_by(|a, b| a.path.cmp(&b.path));
        report.notes.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(report)
    }

    /// Quarantines everything that is in the place of a folder or of a lock file: nothing could be written there any more, and
    /// nobody should have to find out by hand what is in the way.
    fn verify_layout(&self) -> Result<Vec<Defect>> {
        let root = self.root();
        let mut findings = Vec::new();
        let mut check = |paths: Vec<(String, PathBuf)>, is_right: fn(&Metadata) -> bool, what: &str| {
            for (_, path) in paths {
                if fs::symlink_metadata(&path).is_ok_and(|found| !is_right(&found)) {
                    findings.push(self.quarantine(path, what.to_owned())?);
                }
            }
            Result::Ok(())
        };
        let folders = STORE_FOLDERS.map(|name| (name.to_owned(), root.join(name)));
        check(folders.into(), Metadata::is_dir, "is not a folder")?;
        for folder in ["objects", "trees", "actions"] {
            let mut shards = list_folder(&root.join(folder))?;
            shards.retain(|(name, _)| name.len() == 2);
            check(shards, Metadata::is_dir, "is not a folder")?;
        }
        check(list_folder(&root.join("work"))?, Metadata::is_dir, "is not a folder")?;
        check(self.in_shards("actions")?, Metadata::is_dir, "is not a folder")?;
        check(list_folder(&root.join("locks"))?, Metadata::is_file, "is not a lock's file")?;
        if findings.iter().any(|finding| finding.quarantined.is_some()) {
            // It is missing now: the next write makes it.
            self.has_all_folders.store(false, Ordering::Release);
        }
        // As a file system without small letters leaves it: its records are not found.
        let others = self.in_shards("actions")?.into_iter().filter(|(name, _)| name.parse::<Key>().is_err());
        findings.extend(others.map(|(_, path)| Defect::new(path, "is not named like a key")));
        Ok(findings)
    }

    /// Returns the keys of these results, and all objects that they name.
    fn subset(&self, results: &[ActionRecord]) -> KeySubset {
        let mut subset = KeySubset::default();
        for record in results {
            subset.keys.insert(record.key);
            subset.objects.extend(record.log);
            for output in record.outputs.values() {
                subset.objects.insert(output.digest);
                // A manifest that cannot be read is found as damaged.
                let manifest = output.shape.is_folder().then(|| self.manifest(&output.digest).ok()).flatten();
                subset.objects.extend(manifest.iter().flat_map(Manifest::digests));
            }
        }
        subset
    }

    /// Returns the intact objects, and the damaged ones.
    fn verify_objects(
        &self,
        report: &mut VerifyReport,
        subset: Option<&KeySubset>,
        progress: impl Fn(u64, u64) + Sync,
    ) -> Result<(BTreeSet<Digest>, DamageTimes)> {
        let others = list_folder(&self.root().join("objects"))?.into_iter().filter(|(shard, _)| shard.len() != 2);
        report.findings.extend(others.map(|(_, path)| Defect::new(path, "is not part of a store")));
        let mut objects = Vec::new();
        for (_, path) in self.in_shards("objects")? {
            match digest_of_path(&path) {
                Some(digest) if subset.is_none_or(|subset| subset.objects.contains(&digest)) => {
                    objects.push((digest, fs::symlink_metadata(&path).map_or(0, |metadata| metadata.len())));
                }
                Some(_) => {}
                None => report.findings.push(Defect::new(path, "is not named like an object")),
            }
        }
        report.objects = objects.len() as u64;
        report.bytes = objects.iter().map(|(_, size)| size).sum();
        let (done, total) = (AtomicU64::new(0), report.bytes);
        let check = |(digest, size)| {
            let state = self.object_state(&digest, None, Check::Hash);
            let done = done.fetch_add(size, Ordering::Relaxed) + size;
            progress(done, total);
            (digest, state)
        };
        let checked: Vec<(Digest, Result<ObjectState>)> = objects.into_par_iter().map(check).collect();
        let (mut intact, mut damaged) = (BTreeSet::new(), DamageTimes::new());
        for (digest, state) in checked {
            match state {
                Ok(ObjectState::Intact) => drop(intact.insert(digest)),
                Ok(ObjectState::Missing) => {}
                Ok(ObjectState::Damaged(damage)) => {
                    let Some(finding) = self.quarantine_damaged(&damage)? else { continue };
                    report.findings.push(finding);
                    // A valid seal is that of a failing disk.
                    let time = damage.stat.map(|stat| stat.mtime_ns);
                    damaged.insert(digest, time.filter(|time| !mtime_seal::has_valid_seal(&digest, *time)));
                }
                Err(error) => {
                    let problem = format!("cannot be checked: {error}");
                    report.findings.push(Defect::new(self.object_path(&digest), problem));
                }
            }
        }
        Ok((intact, damaged))
    }

    /// Checks the records, and that all that they name is intact. Notes every result that may depend on damaged content: its stage
    /// ran after the damage was done, or the time of the damage is unknown. Since no stage reads an object without its seal, that
    /// is mostly the work of a failing disk.
    fn verify_records(
        &self,
        report: &mut VerifyReport,
        subset: Option<&KeySubset>,
        intact: &mut BTreeSet<Digest>,
        damaged: &DamageTimes,
    ) -> Result<()> {
        let is_in_subset = |key: &Key| subset.is_none_or(|subset| subset.keys.contains(key));
        let mut records = Vec::new();
        // Any result may have read damaged content.
        for key in self.keys()?.into_iter().filter(|key| !damaged.is_empty() || is_in_subset(key)) {
            for file in self.record_files(&key)? {
                match file.read(&key) {
                    Ok(record) => records.push((file.path, record)),
                    Err(error) => report.findings.extend(self.unreadable(file.path, error)?),
                }
            }
        }
        // Content that is not there is reported once for each record that names it, and damaged content with its own path, once.
        let reported: BTreeSet<PathBuf> = report.findings.iter().map(|finding| finding.path.clone()).collect();
        let mut producers: BTreeMap<PathBuf, String> = BTreeMap::new();
        // A manifest is read once.
        let mut folders: BTreeMap<Digest, Vec<Digest>> = BTreeMap::new();
        for output in records.iter().flat_map(|(_, record)| record.outputs.values()) {
            if output.shape.is_folder()
                && !folders.contains_key(&output.digest)
                && self.is_intact(intact, &output.digest)
            {
                folders.insert(output.digest, self.verify_folder(report, &output.digest)?);
            }
        }
        let with_files =
            |digest: Digest| std::iter::once(digest).chain(folders.get(&digest).into_iter().flatten().copied());
        for (path, record) in records {
            let label = &record.label;
            let RunInfo { started, wall_seconds, .. } = record.run_info;
            let ended_ns = started.as_nanosecond().saturating_add((wall_seconds * 1e9) as i128);
            let is_after = |time: i64| i128::from(time) <= ended_ns;
            let read: BTreeSet<Digest> = record.input_digests().flat_map(|digest| with_files(*digest)).collect();
            for digest in read.iter().filter(|digest| damaged.get(digest).is_some_and(|time| time.is_none_or(is_after)))
            {
                let what = format!(
                    "read {digest}, which is damaged now: if it was damaged then, this result of `{label}` is wrong; once a run \
                     has computed the input again, `cwm run --check` compares, and `cwm run --force` computes this result again"
                );
                report.notes.push(Defect::new(path.clone(), what));
            }
            if !is_in_subset(&record.key) {
                continue;
            }
            report.records += 1;
            let stored = record.outputs.values().filter(|output| output.external.is_none());
            let content: BTreeSet<Digest> = stored.flat_map(|output| with_files(output.digest)).collect();
            let lost: Vec<Digest> = content.into_iter().filter(|digest| !self.is_intact(intact, digest)).collect();
            if record.evicted.is_some() {
                // It was evicted on purpose.
                report.evicted += u64::from(!lost.is_empty());
                continue;
            }
            if let Some(log) = record.log.filter(|log| !self.is_intact(intact, log)) {
                let what = format!("is missing its log {log}; a run of `{label}` with `--force` writes one");
                report.notes.push(Defect::new(path.clone(), what));
            }
            report.incomplete.extend((!lost.is_empty()).then(|| label.stage.clone()));
            for digest in lost {
                let object = self.object_path(&digest);
                if reported.contains(&object) {
                    producers.entry(object).or_insert_with(|| label.to_string());
                } else {
                    let what = format!("names {digest}, which is not in the store (`{label}` computes it)");
                    report.findings.push(Defect::new(path.clone(), what));
                }
            }
        }
        for finding in &mut report.findings {
            if let Some(label) = producers.get(&finding.path) {
                finding.what += &format!(" (`{label}` computes it)");
            }
        }
        Ok(())
    }

    /// Quarantines a record that cannot be read; nothing if it is gone by now.
    fn unreadable(&self, path: PathBuf, error: FileError) -> Result<Option<Defect>> {
        let what = match error {
            FileError::Damaged { what, .. } => format!("is damaged: {what}"),
            FileError::TooNew { .. } => return Ok(Some(Defect::new(path, "was not checked: a newer cwm wrote it"))),
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

    /// Returns the files of an intact manifest, whose tree is made again if it is there and was changed.
    fn verify_folder(&self, report: &mut VerifyReport, digest: &Digest) -> Result<Vec<Digest>> {
        let manifest = match self.manifest(digest) {
            Ok(manifest) => manifest,
            Err(error @ (FileError::Damaged { .. } | FileError::TooNew { .. })) => {
                let what = format!("cannot be read as a folder: {error}");
                report.findings.push(Defect::new(self.object_path(digest), what));
                return Ok(Vec::new());
            }
            Err(error) => return Err(error),
        };
        let tree = self.tree_folder(digest);
        if fs::symlink_metadata(&tree).is_ok()
            && let Err(error) = self.make_tree(digest, &manifest)
        {
            report.findings.push(Defect::new(tree, format!("cannot be rebuilt from its manifest: {error}")));
        }
        Ok(manifest.digests().collect())
    }
}

/// Damaged objects with the time of the damage, in nanoseconds since 1970; nothing where that is not known, as on a failing disk.
type DamageTimes = BTreeMap<Digest, Option<i64>>;

/// The keys and objects to check.
#[derive(Default)]
struct KeySubset {
    keys: BTreeSet<Key>,
    objects: BTreeSet<Digest>,
}
