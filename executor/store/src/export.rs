//! Copies of outputs where people find them.
//!
//! Copies or reflinks (what `std::fs::copy` makes where the file system can), never hard links, since those share mode
//! and bytes with the store. All is made aside and renamed, so that a reader never sees half an export. Only what an
//! export made is ever replaced: the hidden file `.cwm-export` beside the copies says what that is.

mod copy;
mod list;
mod made;
mod obstacle;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::Store;
use super::actions;
use super::locks;
use super::record::{OutputRecord, OutputShape};
use crate::outside::Files;
use copy::{Source, Wanted, copy_file};
use cwm_core::digest::Digest;
use cwm_core::files::durable::{Disk, TEMPORARY, Temporary};
use cwm_core::files::{Result, StoreError, Trouble};
use list::{LIST, List, OUT_OF_THE_WAY, There, look_at_copy, read_list, write_list};

/// What an export did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The file or folder, absolute.
    pub path: PathBuf,
    /// Whether it was written; it was there already, unchanged, otherwise.
    pub written: bool,
    /// Whether an earlier export stood there before.
    pub replaced: bool,
}

impl Store {
    /// Copies the output `name` to the folder `destination`: a folder's files stand right in it, a file is called
    /// `<name>.<extension>`. Files get mode 0644, or 0755 if they may be executed. What an earlier export put there is
    /// replaced: a folder as a whole, a file by itself. Of a folder, the files in `added` stand beside its own or in
    /// their place: in the copy alone.
    ///
    /// # Errors
    /// The output is not in the store, or its content is damaged; the destination is in the store; something is in the
    /// way that no export made, or that was changed since; the disk refuses.
    pub fn export(
        &self,
        name: &str,
        output: &OutputRecord,
        destination: &Path,
        added: &BTreeMap<String, Vec<u8>>,
        outside: &Files,
    ) -> Result<Exported> {
        let destination = std::path::absolute(destination).map_err(StoreError::io("find", destination))?;
        let target = match &output.shape {
            OutputShape::File { extension } if extension.is_empty() => destination.join(name),
            OutputShape::File { extension } => destination.join(format!("{name}.{extension}")),
            OutputShape::Folder => destination,
        };
        let export = self.export_to(&target)?;
        // What is in the way of others is refused below.
        let stood = match &output.shape {
            OutputShape::File { .. } => fs::symlink_metadata(&target).is_ok(),
            OutputShape::Folder => target.join(LIST).is_file(),
        };
        let written = match &output.shape {
            OutputShape::File { .. } => export.file(&self.path_of(output, outside)?, output)?,
            OutputShape::Folder => {
                let manifest = self.manifest(&output.digest)?;
                if manifest.files().contains_key(LIST) {
                    return Err(StoreError::refused(
                        &target,
                        format!("would hold a file named `{LIST}` of its own"),
                        "that name is cwm's; have the stage choose another",
                    ));
                }
                let files = manifest.files().iter().map(|(name, file)| {
                    let wanted = Wanted { digest: file.digest, executable: file.executable };
                    (name.clone(), (Source::Object(self.object_path(&file.digest)), wanted))
                });
                let mut files: BTreeMap<String, (Source, Wanted)> = files.collect();
                files.extend(added.iter().map(|(name, bytes)| {
                    let wanted = Wanted { digest: Digest::of(bytes), executable: false };
                    (name.clone(), (Source::Bytes(bytes), wanted))
                }));
                export.folder(&files)?
            }
        };
        Ok(Exported { path: target.clone(), written, replaced: written && stood })
    }

    /// An export to this file or folder.
    fn export_to<'a>(&'a self, target: &'a Path) -> Result<Export<'a>> {
        let (Some(parent), Some(name)) = (target.parent(), target.file_name()) else {
            return Err(StoreError::refused(target, "cannot be exported to", "name a folder below it"));
        };
        if self.holds(parent) || self.holds(target) {
            return Err(StoreError::refused(
                target,
                "is in the store itself",
                "name a folder outside of it: what is in the store is made by cwm alone",
            ));
        }
        Ok(Export { store: self, disk: &self.disk, target, parent, name: name.to_string_lossy().into_owned() })
    }

    /// Whether `path`, which need not be there, is the store or lies in it, also by way of links.
    fn holds(&self, path: &Path) -> bool {
        let Ok(root) = fs::canonicalize(self.root()) else { return false };
        path.ancestors().find_map(|above| fs::canonicalize(above).ok()).is_some_and(|above| above.starts_with(root))
    }
}

struct Export<'a> {
    store: &'a Store,
    disk: &'a Disk,
    target: &'a Path,
    parent: &'a Path,
    name: String,
}

impl Export<'_> {
    fn file(&self, source: &Path, output: &OutputRecord) -> Result<bool> {
        let list_path = self.parent.join(LIST);
        let stands = |list: List| {
            let known = list.files.get(&self.name).filter(|known| !list.whole && known.digest == output.digest);
            known.is_some() && look_at_copy(self.target, known).is_ok_and(|there| matches!(there, There::AsCopied))
        };
        if self.leftovers()?.is_empty() && read_list(&list_path).is_ok_and(stands) {
            return Ok(false);
        }
        let _turn = self.turn()?;
        let mut exported = read_list(&list_path)?;
        if exported.whole {
            return Err(StoreError::refused(self.parent, "is as a whole an export of another output", OUT_OF_THE_WAY));
        }
        let wanted = Wanted { digest: output.digest, executable: false };
        let mut stands = exported.files.get(&self.name).cloned();
        if fs::symlink_metadata(self.target).is_ok() {
            let known = exported.files.get(&self.name);
            let there = look_at_copy(self.target, known)?;
            match (known, there) {
                (Some(known), There::AsCopied) if known.digest == wanted.digest => return Ok(false),
                (Some(_), There::AsCopied) => {}
                (_, There::Changed(Some(digest))) if digest == wanted.digest => {}
                (_, There::Changed(Some(digest)))
                    if exported.before.get(&self.name).is_some_and(|before| before.digest == digest) =>
                {
                    stands = exported.before.get(&self.name).cloned();
                }
                (Some(_), There::Changed(_)) => return Err(changed(self.target)),
                (None, _) => return Err(foreign(self.target)),
            }
        }
        self.disk.make_folders(self.parent)?;
        let (aside, _held) = self.aside()?;
        let copy = aside.path().join("copy");
        exported.files.insert(self.name.clone(), copy_file(&Source::Object(source.to_owned()), &copy, wanted)?);
        // If we end between the two, the file is what stood there before; the list says that too.
        exported.before.remove(&self.name);
        exported.before.extend(stands.map(|stands| (self.name.clone(), stands)));
        write_list(&aside, &exported)?;
        self.disk.sync_all(aside.path())?;
        self.disk.place(&aside.path().join(LIST), &list_path)?;
        self.disk.place(&copy, self.target)?;
        Ok(true)
    }

    fn folder(&self, files: &BTreeMap<String, (Source<'_>, Wanted)>) -> Result<bool> {
        // Somebody else may be in the middle of it.
        let is_there = fs::symlink_metadata(self.target).is_ok() && self.leftovers()?.is_empty();
        if is_there && self.is_unchanged(files).unwrap_or(false) {
            return Ok(false);
        }
        let _turn = self.turn()?;
        let exists = fs::symlink_metadata(self.target).is_ok();
        if exists && self.is_unchanged(files)? {
            return Ok(false);
        }
        self.disk.make_folders(self.parent)?;
        let (aside, _held) = self.aside()?;
        let mut exported = List { whole: true, ..List::default() };
        for (name, (source, wanted)) in files {
            let copy = aside.path().join(name);
            if let Some(folder) = copy.parent() {
                self.disk.make_folders(folder)?;
            }
            exported.files.insert(name.clone(), copy_file(source, &copy, *wanted)?);
        }
        write_list(&aside, &exported)?;
        // Else a list or a copy could be found empty under its name when the power had gone, and stand in the way.
        self.disk.sync_all(aside.path())?;
        if !exists {
            aside.place(self.target)?;
            return Ok(true);
        }
        aside.replace(self.target)?;
        Ok(true)
    }

    /// Exports are made by one process at a time, for their list is read and written; and away with what killed ones to this
    /// target left. From a store that cannot be written they are made all the same.
    fn turn(&self) -> Result<Option<File>> {
        let turn = match locks::wait_alone(&self.store.layout.lock("exports")) {
            Err(error) if matches!(error.trouble(), Trouble::ReadOnly | Trouble::Missing) => None,
            locked => Some(locked?),
        };
        for path in self.leftovers()? {
            if File::open(&path).is_ok_and(|folder| folder.try_lock().is_ok()) {
                self.disk.remove(&path)?;
            }
        }
        Ok(turn)
    }

    /// What exports to this target have beside it: in the middle of one, or killed.
    fn leftovers(&self) -> Result<Vec<PathBuf>> {
        let prefix = self.prefix();
        let listed = actions::list(self.parent)?.into_iter();
        Ok(listed.filter(|(name, _)| name.starts_with(&prefix)).map(|(_, path)| path).collect())
    }

    fn prefix(&self) -> String {
        format!("{TEMPORARY}{}-", self.name)
    }

    /// A folder beside the target, locked as long as the file is open.
    fn aside(&self) -> Result<(Temporary<'_>, File)> {
        let aside = self.disk.temporary_folder(self.parent, &self.prefix())?;
        let folder = File::open(aside.path()).map_err(StoreError::io("open", aside.path()))?;
        folder.lock().map_err(StoreError::io("lock", aside.path()))?;
        Ok((aside, folder))
    }

    /// Whether the folder holds exactly these copies.
    ///
    /// # Errors
    /// It holds anything that no export made, or that was changed since.
    fn is_unchanged(&self, files: &BTreeMap<String, (Source<'_>, Wanted)>) -> Result<bool> {
        let (exported, there) = self.look_at_folder()?;
        // A copy that someone removed is made again.
        Ok(there == files.len()
            && files.iter().all(|(name, (_, wanted))| {
                exported
                    .files
                    .get(name)
                    .is_some_and(|known| known.digest == wanted.digest && known.executable == wanted.executable)
            }))
    }

    /// What an earlier export put into the folder, and how many files of it are there.
    ///
    /// # Errors
    /// It holds anything that no export made, or that was changed since.
    fn look_at_folder(&self) -> Result<(List, usize)> {
        if !fs::symlink_metadata(self.target).is_ok_and(|metadata| metadata.is_dir()) {
            return Err(StoreError::refused(self.target, "is not a folder", OUT_OF_THE_WAY));
        }
        let exported = read_list(&self.target.join(LIST))?;
        if !exported.whole && !exported.files.is_empty() {
            return Err(StoreError::refused(self.target, "holds exports of single files", OUT_OF_THE_WAY));
        }
        let mut there = 0;
        let mut folders = vec![(self.target.to_owned(), String::new())];
        while let Some((folder, prefix)) = folders.pop() {
            for entry in fs::read_dir(&folder).map_err(StoreError::io("read the folder", &folder))? {
                let entry = entry.map_err(StoreError::io("read the folder", &folder))?;
                let path = entry.path();
                let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
                if entry.file_type().map_err(StoreError::io("look at", &path))?.is_dir() {
                    folders.push((path, format!("{name}/")));
                } else if name != LIST {
                    let known = exported.files.get(&name).ok_or_else(|| foreign(&path))?;
                    match look_at_copy(&path, Some(known))? {
                        There::AsCopied => there += 1,
                        There::Changed(_) => return Err(changed(&path)),
                    }
                }
            }
        }
        Ok((exported, there))
    }
}

fn foreign(path: &Path) -> StoreError {
    StoreError::refused(path, "is in the way: no export made it", OUT_OF_THE_WAY)
}

fn changed(path: &Path) -> StoreError {
    StoreError::refused(path, "is in the way: it was changed since it was exported", OUT_OF_THE_WAY)
}
