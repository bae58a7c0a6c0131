//! Names that people give to results: a tag is a lock file of its own in the store, and a root.

use std::path::PathBuf;

use cwm_contract::Label;

use cwm_core::files::Result;
use cwm_core::{DurableFs, Error, FileError};
use cwm_project::lock_file::{LockFile, LockLine};
use cwm_store::{Store, list_folder};

/// The prefix of a tag's name where other things may be named too.
pub const PREFIX: &str = "tag:";

/// The extension of a tag's file.
const EXTENSION: &str = "lock";

/// Longest name, in bytes.
const LONGEST: usize = 100;

/// Results with a name.
#[derive(Clone, Debug)]
pub struct Tag {
    /// The name.
    pub name: String,
    /// The results that it names.
    pub lock: LockFile,
}

impl Tag {
    /// Returns the damage of its file, which cwm alone writes.
    pub fn damage(&self) -> Option<String> {
        match self.lock.problems().first() {
            Some(warning) => Some(format!("line {}: {}", warning.place.line, warning.message)),
            None => self.lock.cells().next().is_none().then(|| "it names nothing".to_owned()),
        }
    }

    /// Fails if the tag is damaged, so that its results are not known.
    ///
    /// # Errors
    /// It is damaged.
    pub fn verify_intact(&self) -> Result<()> {
        let Some(damage) = self.damage() else { return Ok(()) };
        let what = format!("is damaged, so that it is not known what the tag `{}` names ({damage})", self.name);
        Err(FileError::rejected(self.lock.path(), what, RENEW))
    }
}

/// The remedy for a damaged tag.
const RENEW: &str = "`cwm store tag NAME --delete` deletes the tag; `cwm store tag NAME --replace` moves it to the \
                     results that the lock file names now, or with `HASH...` to other results";

/// Checks the name of a tag: letters, digits, `.`, `_` and `-`, a letter or digit first.
///
/// # Errors
/// It is not a name.
pub fn check_name(name: &str) -> Result<(), Error> {
    let good = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.len() <= LONGEST
        && !name.ends_with('.')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if good {
        return Ok(());
    }
    let shown: String = name.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    Err(Error::usage(format!("`{shown}` cannot name a tag"))
        .hint("letters, digits, `.`, `_` and `-`, beginning with a letter or digit: `paper-v1`"))
}

/// All tags, sorted by name.
///
/// # Errors
/// The store cannot be read, or a newer cwm wrote one.
pub fn list(store: &Store) -> Result<Vec<Tag>> {
    let files = files(store)?.into_iter();
    files.map(|(name, path)| Ok(Tag { name, lock: LockFile::read(&path)? })).collect()
}

/// Returns the names and paths of all tags, sorted.
///
/// # Errors
/// The store cannot be read.
pub fn files(store: &Store) -> Result<Vec<(String, PathBuf)>> {
    let tag = |(file, path): (String, PathBuf)| {
        let name = file.strip_suffix(EXTENSION)?.strip_suffix('.')?;
        check_name(name).is_ok().then(|| (name.to_owned(), path))
    };
    Ok(list_folder(&store.folder("tags"))?.into_iter().filter_map(tag).collect())
}

/// Returns the path of the tag of this name.
pub fn path(store: &Store, name: &str) -> PathBuf {
    store.folder("tags").join(format!("{name}.{EXTENSION}"))
}

/// Reads the tag of this name.
///
/// # Errors
/// There is none, or the store cannot be read.
pub fn read(store: &Store, name: &str) -> Result<Tag, Error> {
    check_name(name)?;
    let path = path(store, name);
    if !path.is_file() {
        return Err(Error::usage(format!("there is no tag `{name}`")).hint("`cwm store tag` lists them"));
    }
    Ok(Tag { name: name.to_owned(), lock: LockFile::read(&path)? })
}

/// Deletes the tag of this name and returns it. The next `cwm store gc` may delete its results.
///
/// # Errors
/// There is none, or the store cannot be read or written.
pub fn delete(store: &Store, name: &str) -> Result<Tag, Error> {
    let tag = read(store, name)?;
    DurableFs::default().remove(tag.lock.path())?;
    Ok(tag)
}

/// Names these results. Returns the tag.
///
/// # Errors
/// It cannot be a name; there is a tag of that name and `replace` is false; or the store cannot be written.
pub fn write(
    store: &Store,
    name: &str,
    lines: impl IntoIterator<Item = (Label, LockLine)>,
    replace: bool,
) -> Result<Tag, Error> {
    check_name(name)?;
    let path = path(store, name);
    if path.is_file() && !replace {
        return Err(Error::usage(format!("there is a tag `{name}` already"))
            .hint("choose another name, or move the tag with `--replace`"));
    }
    store.create()?;
    let mut lock = LockFile::default();
    lock.update(lines);
    DurableFs::default().replace(&path, lock.text().as_bytes(), true)?;
    read(store, name)
}
