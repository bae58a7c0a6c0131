//! Changing a site's file as people would: comments, order and spaces stay.

use std::path::Path;

use toml_edit::{DocumentMut, Item, Table, value};

use super::read::{site, text_of};
use super::{Remote, RemoteKinds, Site};
use cwm_core::{DurableFs, Error};

/// A remote that is to be added.
#[derive(Clone, Debug)]
pub struct NewRemote<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its URL or path.
    pub url: &'a str,
    /// True if it is only read.
    pub read_only: bool,
    /// Keys that its kind of remote has, with their values.
    pub options: Vec<(&'a str, &'a str)>,
}

/// Adds a remote to the site's file, which is made if it is not there. `check` may refuse the remote.
///
/// # Errors
/// There is one of that name, something about it is wrong, or the file is wrong or cannot be written.
pub fn add_remote(
    file: &Path,
    kinds: &dyn RemoteKinds,
    new: &NewRemote<'_>,
    check: impl Fn(&Site, &Remote) -> Result<(), Error>,
) -> Result<(), Error> {
    let edit = |document: &mut DocumentMut| {
        let remotes = document.entry("remotes").or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        let remotes = remotes.as_table_like_mut().ok_or_else(|| Error::usage("`remotes` is no table"))?;
        if remotes.contains_key(new.name) {
            return Err(Error::usage(format!("there is a remote `{}` already", new.name))
                .hint(format!("`cwm remote remove {}` removes it", new.name)));
        }
        let mut table = Table::new();
        table.insert("url", value(new.url));
        if new.read_only {
            table.insert("read_only", value(true));
        }
        for (key, text) in &new.options {
            table.insert(key, value(*text));
        }
        // Behind the other remotes.
        remotes.insert(new.name, Item::Table(table));
        Ok(String::new())
    };
    change(file, kinds, edit, |site| site.remote(new.name).map_or(Ok(()), |remote| check(site, remote)))
}

/// Removes a remote from the site's file.
///
/// # Errors
/// There is none of that name, or the file is wrong or cannot be written.
pub fn remove_remote(file: &Path, kinds: &dyn RemoteKinds, name: &str) -> Result<(), Error> {
    let edit = |document: &mut DocumentMut| {
        let text = document.to_string();
        let remotes = document.get_mut("remotes").and_then(Item::as_table_like_mut);
        let removed = remotes.and_then(|remotes| remotes.remove(name));
        let removed = removed.ok_or_else(|| Error::usage(format!("there is no remote `{name}`")))?;
        let above = removed.as_table().and_then(|table| table.decor().prefix()?.as_str()).unwrap_or_default();
        // The comment above a table goes with it, but for the one on the first line: that is the file's.
        let files = above.rfind("\n\n").map_or(above, |at| &above[..at + 2]);
        Ok(if text.starts_with(above) && files.contains('#') { files.to_owned() } else { String::new() })
    };
    change(file, kinds, edit, |_| Ok(()))
}

/// Reads the file, changes it, looks whether it is right, also by `look`, and puts it in place in one instant. What
/// `edit` returns comes before all else.
fn change(
    file: &Path,
    kinds: &dyn RemoteKinds,
    edit: impl FnOnce(&mut DocumentMut) -> Result<String, Error>,
    look: impl FnOnce(&Site) -> Result<(), Error>,
) -> Result<(), Error> {
    let name = file.display().to_string();
    let folder = file.parent().unwrap_or(Path::new("."));
    let text = text_of(file).map_err(Error::usage)?.unwrap_or_default();
    site(&text, &name, folder, kinds)?;
    // It has just been read: what is wrong now is a mistake of ours.
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| Error::internal(error.message().to_owned()))?;
    let text = edit(&mut document)? + &document.to_string();
    look(&site(&text, &name, folder, kinds)?)?;
    Ok(DurableFs::default().replace(file, text.as_bytes(), true)?)
}
