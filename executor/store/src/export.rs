//! Copies of outputs where people find them.
//!
//! Copies or reflinks (what `std::fs::copy` makes where the file system can), never hard links, since those share mode
//! and bytes with the store. All is made aside and renamed, so that a reader never sees half an export. Only what an
//! export made is ever replaced: the hidden file `.cwm-export` beside the copies says what that is. A file that it
//! lists is overwritten also where people changed it; one that it does not list is never touched.

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
use crate::external_files::DigestCache;
use copy::{Source, Wanted, copy_file};
use cwm_core::files::Result;
use cwm_core::files::durable::{TEMPORARY, Temporary};
use cwm_core::{Digest, DurableFs, FileError, FileErrorKind};
use list::{LIST, List, OUT_OF_THE_WAY, read_list, write_list};

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
    /// way that no export made; the disk refuses.
    pub fn export(
        &self,
        name: &str,
        output: &OutputRecord,
        destination: &Path,
        added: &BTreeMap<String, Vec<u8>>,
        outside: &DigestCache,
    ) -> Result<Exported> {
        let destination = std::path::absolute(destination).map_err(FileError::io("find", destination))?;
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
                    return Err(FileError::refused(
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
            return Err(FileError::refused(target, "cannot be exported to", "name a folder below it"));
        };
        if self.holds(parent) || self.holds(target) {
            return Err(FileError::refused(
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
    disk: &'a DurableFs,
    target: &'a Path,
    parent: &'a Path,
    name: String,
}

impl Export<'_> {
    fn file(&self, source: &Path, output: &OutputRecord) -> Result<bool> {
        let list_path = self.parent.join(LIST);
        let stands = |list: &List| {
            let copied = list.files.get(&self.name).filter(|copied| !list.whole && copied.digest == output.digest);
            copied.is_some_and(|copied| copied.stands(self.target))
        };
        if self.leftovers()?.is_empty() && read_list(&list_path).is_ok_and(|list| stands(&list)) {
            return Ok(false);
        }
        let _turn = self.turn()?;
        let mut list = read_list(&list_path)?;
        if list.whole {
            return Err(FileError::refused(self.parent, "is as a whole an export of another output", OUT_OF_THE_WAY));
        }
        if stands(&list) {
            return Ok(false);
        }
        let there = fs::symlink_metadata(self.target);
        if there.is_ok_and(|there| !there.is_file() || !list.files.contains_key(&self.name)) {
            return Err(foreign(self.target));
        }
        self.disk.make_folders(self.parent)?;
        let (aside, _held) = self.aside()?;
        let copy = aside.path().join("copy");
        let wanted = Wanted { digest: output.digest, executable: false };
        list.files.insert(self.name.clone(), copy_file(&Source::Object(source.to_owned()), &copy, wanted)?);
        write_list(&aside, &list)?;
        self.disk.sync_all(aside.path())?;
        // The list first: a copy that is not in it could never be replaced. If we end between the two, the file that stands
        // there has not the times of the copy in the list, and is replaced by the next export.
        self.disk.place(&aside.path().join(LIST), &list_path)?;
        self.disk.place(&copy, self.target)?;
        Ok(true)
    }

    fn folder(&self, files: &BTreeMap<String, (Source<'_>, Wanted)>) -> Result<bool> {
        let stands = |earlier: &Option<List>| {
            let files = files.iter().map(|(name, (_, wanted))| (name.clone(), wanted.digest, wanted.executable));
            earlier.as_ref().is_some_and(|list| list.whole && list.stands(self.target, files))
        };
        // Somebody else may be in the middle of it.
        if self.leftovers()?.is_empty() && self.earlier().is_ok_and(|earlier| stands(&earlier)) {
            return Ok(false);
        }
        let _turn = self.turn()?;
        let earlier = self.earlier()?;
        if stands(&earlier) {
            return Ok(false);
        }
        self.disk.make_folders(self.parent)?;
        let (aside, _held) = self.aside()?;
        let mut list = List::new(true);
        for (name, (source, wanted)) in files {
            let copy = aside.path().join(name);
            if let Some(folder) = copy.parent() {
                self.disk.make_folders(folder)?;
            }
            list.files.insert(name.clone(), copy_file(source, &copy, *wanted)?);
        }
        write_list(&aside, &list)?;
        // Else a list or a copy could be found empty under its name when the power had gone, and stand in the way.
        self.disk.sync_all(aside.path())?;
        match earlier {
            Some(_) => aside.replace(self.target)?,
            None => aside.place(self.target)?,
        }
        Ok(true)
    }

    /// Exports are made by one process at a time, for their list is read and written; and away with what killed ones to this
    /// target left. From a store that cannot be written they are made all the same.
    fn turn(&self) -> Result<Option<File>> {
        let turn = match locks::wait_alone(&self.store.layout.lock("exports")) {
            Err(error) if matches!(error.trouble(), FileErrorKind::ReadOnly | FileErrorKind::Missing) => None,
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
        let folder = File::open(aside.path()).map_err(FileError::io("open", aside.path()))?;
        folder.lock().map_err(FileError::io("lock", aside.path()))?;
        Ok((aside, folder))
    }

    /// The list of the folder that stands at the target, which an export may replace: one made all of its files, or it has
    /// none. Nothing, if nothing stands there.
    ///
    /// # Errors
    /// It is no such folder.
    fn earlier(&self) -> Result<Option<List>> {
        match fs::symlink_metadata(self.target) {
            Err(_) => return Ok(None),
            Ok(there) if there.is_dir() => {}
            Ok(_) => return Err(FileError::refused(self.target, "is not a folder", OUT_OF_THE_WAY)),
        }
        let list = read_list(&self.target.join(LIST))?;
        if !list.whole && !list.files.is_empty() {
            return Err(FileError::refused(self.target, "holds exports of single files", OUT_OF_THE_WAY));
        }
        let mut folders = vec![(self.target.to_owned(), String::new())];
        while let Some((folder, prefix)) = folders.pop() {
            for entry in fs::read_dir(&folder).map_err(FileError::io("read the folder", &folder))? {
                let entry = entry.map_err(FileError::io("read the folder", &folder))?;
                let (path, name) = (entry.path(), format!("{prefix}{}", entry.file_name().to_string_lossy()));
                if entry.file_type().map_err(FileError::io("look at", &path))?.is_dir() {
                    folders.push((path, format!("{name}/")));
                } else if name != LIST && !list.files.contains_key(&name) {
                    return Err(foreign(&path));
                }
            }
        }
        Ok(Some(list))
    }
}

fn foreign(path: &Path) -> FileError {
    FileError::refused(path, "is in the way: no export made it", OUT_OF_THE_WAY)
}
