//! Copies of outputs for people.
//!
//! Copies or reflinks (what `std::fs::copy` makes where the file system can), never hard links, since those share mode
//! and bytes with the store. All is made in a hidden folder beside the target and renamed, so that a reader never sees half an
//! export. Only what an export made is ever replaced: the hidden file `.cwm-export` in the folder lists it. A file in that list
//! is overwritten also where people changed it; one that is not in it is never touched.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Store;
use super::hashing::hash_own_file;
use super::locks;
use super::record::{OutputRecord, OutputShape};
use super::walk::{files_below, list_folder, metadata};
use crate::external_files::DigestCache;
use cwm_core::files::{EXPORT_LIST, Result, TEMPORARY, TemporaryPath, to_json};
use cwm_core::{Digest, FileError, FileErrorKind, Stat, read_regular_file};

/// Version of the format of [`ExportList`].
const LIST_FORMAT: u32 = 1;

const MOVE_IT: &str = "move it away, or export to another place; cwm replaces only what it exported itself";

/// The text for people who open the list.
const NOTE: &str = "`cwm export` made these files; the next export overwrites what is changed in them";

/// The outcome of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportOutcome {
    /// The file or folder, absolute.
    pub path: PathBuf,
    /// True if it was written; false if it was there already, unchanged.
    pub is_written: bool,
    /// True if it took the place of an earlier export.
    pub is_replacement: bool,
}

/// The content of `.cwm-export`, which is JSON.
#[derive(Default, Serialize, Deserialize)]
struct ExportList {
    #[serde(default)]
    note: String,
    cwm_export: u32,
    /// True if the folder as a whole is one export; else each file is one.
    whole: bool,
    /// The files, by path in the folder.
    files: BTreeMap<String, ExportedFile>,
}

/// A copy as it was made.
#[derive(Serialize, Deserialize)]
struct ExportedFile {
    digest: Digest,
    size: u64,
    mtime_ns: i64,
    executable: bool,
}

/// The content and mode of each file of a folder.
type Contents = BTreeMap<String, (Digest, bool)>;

impl Store {
    /// Copies the output `name` to the folder `destination`: a folder's files lie right in it, a file is called
    /// `<name>.<extension>`. Files get mode 0644, or 0755 if they may be executed. An earlier export there is replaced: a folder
    /// as a whole, a file by itself. The files in `added` lie in the copy of a folder beside its own, or replace them.
    ///
    /// # Errors
    /// The output is not in the store, or its content is damaged; the destination is in the store; something is in the
    /// way that no export made; an operation on the disk fails.
    pub fn export(
        &self,
        name: &str,
        output: &OutputRecord,
        destination: &Path,
        added: &BTreeMap<String, Vec<u8>>,
        digests: &DigestCache,
    ) -> Result<ExportOutcome> {
        let destination = std::path::absolute(destination).map_err(FileError::io("find", destination))?;
        if !output.shape.is_folder() {
            let source = self.path_of(output, digests)?;
            return self.export_file(&destination, &output.shape.file_name(name), &source, output.digest);
        }
        let manifest = self.manifest(&output.digest)?;
        let own = manifest.files().iter().map(|(name, file)| (name.clone(), (file.digest, file.executable)));
        let added_contents = added.iter().map(|(name, bytes)| (name.clone(), (Digest::of(bytes), false)));
        let contents: Contents = own.chain(added_contents).collect();
        if contents.contains_key(EXPORT_LIST) {
            let problem = format!("would hold a file named `{EXPORT_LIST}` of its own");
            return Err(FileError::rejected(&destination, problem, "that name is reserved: the stage needs another"));
        }
        self.export_folder(&destination, Some(&contents), |folder| {
            for (name, (digest, _)) in &contents {
                let path = folder.join(name);
                self.disk.make_folders(path.parent().unwrap_or(folder))?;
                match added.get(name) {
                    Some(bytes) => fs::write(&path, bytes).map_err(FileError::io("write", &path))?,
                    None => copy(&self.object_path(digest), &path)?,
                }
            }
            Ok(())
        })
    }

    /// Fills the folder `destination` with the files that `fill` makes in an empty one. Nothing has its name before all is
    /// complete; an earlier export with the same content stays as it is. The files are made each time, since the code that makes
    /// them may have changed.
    ///
    /// # Errors
    /// Those of `fill`; the destination is in the store; something is in the way that no export made; an operation on
    /// the disk fails.
    pub fn export_generated<E: From<FileError>>(
        &self,
        destination: &Path,
        fill: impl FnOnce(&Path) -> std::result::Result<(), E>,
    ) -> std::result::Result<ExportOutcome, E> {
        let destination = std::path::absolute(destination).map_err(FileError::io("find", destination))?;
        self.export_folder(&destination, None, fill)
    }

    /// Checks that the output `name` can be exported to the folder `destination`, before anything is written. Without its `shape`
    /// only the folder is checked.
    ///
    /// # Errors
    /// The destination is in the store; something is in the way that no export made; or the destination cannot be read.
    pub fn export_preflight(&self, name: &str, shape: Option<&OutputShape>, destination: &Path) -> Result<()> {
        self.reject_own_folder(destination)?;
        if let Some(obstacle) = destination.ancestors().find(|place| place.exists()).filter(|place| !place.is_dir()) {
            let hint = "move it away, or name another folder";
            return Err(FileError::rejected(obstacle, "is a file, and an export makes a folder", hint));
        }
        let check = || match shape {
            Some(OutputShape::Folder) => replaceable(destination).map(drop),
            Some(file) => replaceable_file(destination, &file.file_name(name)).map(drop),
            None => Ok(()),
        };
        // At the first look another process may just have been exporting there.
        check().or_else(|_| check())
    }

    /// Copies one file into a folder that may hold others.
    fn export_file(&self, folder: &Path, name: &str, source: &Path, digest: Digest) -> Result<ExportOutcome> {
        let path = folder.join(name);
        let _lock = self.lock_exports(&path)?;
        let (mut list, is_replacement) = replaceable_file(folder, name)?;
        if list.files.get(name).is_some_and(|copy| copy.digest == digest && copy.is_unchanged(&path)) {
            return Ok(ExportOutcome { path, is_written: false, is_replacement: false });
        }
        self.disk.make_folders(folder)?;
        let staging = self.disk.temporary_folder(folder, &prefix(&path))?;
        let temporary = staging.path().join(name);
        copy(source, &temporary)?;
        let contents = Contents::from([(name.to_owned(), (digest, false))]);
        list.files.extend(self.exported_files(staging.path(), Some(&contents))?);
        list.write(&staging)?;
        self.disk.sync_all(staging.path())?;
        // The list first: a copy that is not in it could never be replaced. After a kill between the two, the file at the target
        // does not have the times of the copy in the list, and the next export replaces it.
        self.disk.rename(&staging.path().join(EXPORT_LIST), &folder.join(EXPORT_LIST))?;
        self.disk.rename(&temporary, &path)?;
        Ok(ExportOutcome { path, is_written: true, is_replacement })
    }

    /// Puts a folder that `fill` fills in the place of an earlier export, unless that has the same content. `contents` are those
    /// that `fill` makes, if they are known before.
    fn export_folder<E: From<FileError>>(
        &self,
        target: &Path,
        contents: Option<&Contents>,
        fill: impl FnOnce(&Path) -> std::result::Result<(), E>,
    ) -> std::result::Result<ExportOutcome, E> {
        let _lock = self.lock_exports(target)?;
        let earlier = replaceable(target)?;
        let is_unchanged = |(name, copy): (&String, &ExportedFile)| copy.is_unchanged(&target.join(name));
        let is_current = |contents: &Contents| {
            let list = earlier.as_ref().filter(|list| list.whole && list.contents() == *contents);
            list.is_some_and(|list| list.files.iter().all(is_unchanged))
        };
        let unchanged = ExportOutcome { path: target.to_owned(), is_written: false, is_replacement: false };
        if contents.is_some_and(is_current) {
            return Ok(unchanged);
        }
        let parent = target.parent().unwrap_or(target);
        self.disk.make_folders(parent)?;
        let staging = self.disk.temporary_folder(parent, &prefix(target))?;
        fill(staging.path())?;
        let files = self.exported_files(staging.path(), contents)?;
        let made = ExportList { whole: true, files, ..ExportList::default() };
        if is_current(&made.contents()) {
            return Ok(unchanged);
        }
        made.write(&staging)?;
        // Else a list or a copy could be found empty under its name after a power loss, and be in the way.
        self.disk.sync_all(staging.path())?;
        match &earlier {
            Some(_) => staging.replace(target)?,
            None => staging.persist(target)?,
        }
        Ok(ExportOutcome { is_written: true, is_replacement: earlier.is_some_and(|list| list.whole), ..unchanged })
    }

    /// Sets the modes of the files that are about to be exported, and describes them. Their digests are computed, since the copies
    /// are what people get, and compared with `contents`.
    fn exported_files(&self, folder: &Path, contents: Option<&Contents>) -> Result<BTreeMap<String, ExportedFile>> {
        let mut files = BTreeMap::new();
        for (path, _) in files_below(folder)? {
            let name = name_in(folder, &path);
            let expected = contents.and_then(|contents| contents.get(&name));
            let executable = expected.is_some_and(|(_, executable)| *executable);
            let mode = Permissions::from_mode(if executable { 0o755 } else { 0o644 });
            fs::set_permissions(&path, mode).map_err(FileError::io("make writable", &path))?;
            let digest = hash_own_file(&path)?;
            if let Some((expected, _)) = expected.filter(|(expected, _)| *expected != digest) {
                let what = format!("its content has the digest {digest}, not {expected}; nothing was exported");
                return Err(FileError::damaged(&self.object_path(expected), what));
            }
            let Stat { size, mtime_ns, .. } = Stat::of(&path)?;
            files.insert(name, ExportedFile { digest, size, mtime_ns, executable });
        }
        Ok(files)
    }

    /// Waits until no other process exports, since exports read and write a list, and removes what killed exports to this target
    /// left. Exports from a store that cannot be written take no lock.
    fn lock_exports(&self, target: &Path) -> Result<Option<File>> {
        let Some(parent) = target.parent() else {
            return Err(FileError::rejected(target, "cannot be exported to", "name a folder below it"));
        };
        self.reject_own_folder(target)?;
        let lock = match locks::wait_for(&self.lock_path("exports")) {
            Err(error) if matches!(error.kind(), FileErrorKind::ReadOnly | FileErrorKind::Missing) => {
                return Ok(None);
            }
            lock => lock?,
        };
        for (name, path) in list_folder(parent)? {
            if name.starts_with(&prefix(target)) {
                self.disk.remove(&path)?;
            }
        }
        Ok(Some(lock))
    }

    /// Refuses `path`, which need not be there, if it is the store or lies in it, also by way of links.
    fn reject_own_folder(&self, path: &Path) -> Result<()> {
        let is_inside = |root: PathBuf| {
            path.ancestors().find_map(|above| fs::canonicalize(above).ok()).is_some_and(|above| above.starts_with(root))
        };
        if !self.contains(path) && !fs::canonicalize(self.root()).is_ok_and(is_inside) {
            return Ok(());
        }
        let hint = "name a folder outside of it: cwm alone writes to the store";
        Err(FileError::rejected(path, "is in the store itself", hint))
    }
}

impl ExportedFile {
    /// Returns true if the copy at `path` was not written since.
    fn is_unchanged(&self, path: &Path) -> bool {
        let is_same = |stat: Stat| (stat.size, stat.mtime_ns) == (self.size, self.mtime_ns);
        fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && is_same(Stat::from(&found)))
    }
}

impl ExportList {
    /// Reads a list; one without files if there is none.
    fn read(path: &Path) -> Result<ExportList> {
        let bytes = FileError::optional(read_regular_file(path).map_err(FileError::io("read", path)))?;
        let Some(bytes) = bytes else { return Ok(ExportList::default()) };
        let list = serde_json::from_slice(&bytes).ok().filter(|list: &ExportList| list.cwm_export == LIST_FORMAT);
        list.ok_or_else(|| FileError::rejected(path, "is not a list of exported files of this version", MOVE_IT))
    }

    /// Writes the list into the folder of an export.
    fn write(self, staging: &TemporaryPath<'_>) -> Result<()> {
        let path = staging.path().join(EXPORT_LIST);
        let list = ExportList { note: NOTE.to_owned(), cwm_export: LIST_FORMAT, ..self };
        fs::write(&path, to_json(&path, &list)?).map_err(FileError::io("write", &path))
    }

    fn contents(&self) -> Contents {
        self.files.iter().map(|(name, copy)| (name.clone(), (copy.digest, copy.executable))).collect()
    }
}

/// Makes a copy, or a reflink where the file system can.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).map(drop).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => FileError::Missing { path: from.to_owned(), what: "is not in the store".to_owned() },
        _ => FileError::io("copy to", to)(error),
    })
}

/// Returns the list of the folder at `target`, which an export may replace since exports made all of its files; nothing if
/// nothing is there.
fn replaceable(target: &Path) -> Result<Option<ExportList>> {
    let Some(there) = metadata(target)? else { return Ok(None) };
    if !there.is_dir() {
        return Err(FileError::rejected(target, "is not a folder", MOVE_IT));
    }
    let list = ExportList::read(&target.join(EXPORT_LIST))?;
    if !list.whole && !list.files.is_empty() {
        return Err(FileError::rejected(target, "holds exports of single files", MOVE_IT));
    }
    let is_ours = |name: &str| name == EXPORT_LIST || list.files.contains_key(name);
    match files_below(target)?.into_iter().find(|(path, _)| !is_ours(&name_in(target, path))) {
        Some((path, _)) if path.ends_with(EXPORT_LIST) => {
            let folder = path.parent().unwrap_or(&path);
            Err(FileError::rejected(folder, "is another export, which only an export to that folder replaces", MOVE_IT))
        }
        Some((path, _)) => Err(occupied(&path)),
        None => Ok(Some(list)),
    }
}

/// Returns the list of the folder in which an export may write the file `name`, and true if an earlier export made that file.
fn replaceable_file(folder: &Path, name: &str) -> Result<(ExportList, bool)> {
    let list = ExportList::read(&folder.join(EXPORT_LIST))?;
    if list.whole {
        return Err(FileError::rejected(folder, "is as a whole an export of another output", MOVE_IT));
    }
    let path = folder.join(name);
    match metadata(&path)? {
        Some(there) if !there.is_file() || !list.files.contains_key(name) => Err(occupied(&path)),
        there => Ok((list, there.is_some())),
    }
}

fn occupied(path: &Path) -> FileError {
    FileError::rejected(path, "exists, and no export wrote it", MOVE_IT)
}

/// Begins the names of the hidden folders in which exports to `target` are made.
fn prefix(target: &Path) -> String {
    format!("{TEMPORARY}{}-", target.file_name().unwrap_or_default().to_string_lossy())
}

fn name_in(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned()
}
