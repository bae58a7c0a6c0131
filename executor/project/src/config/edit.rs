//! Changes `cwm.toml` as people would: comments, order and spaces stay.

use std::path::Path;

use toml_edit::{DocumentMut, Item, Key, Value};

use super::read::{parse, text_of};
use super::{ProjectConfig, Remote, RemoteKinds};
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

/// Adds a remote to `cwm.toml`, which is made if it is not there. `check` may refuse the remote.
///
/// # Errors
/// There is one of that name, something about it is wrong, or the file is wrong or cannot be written.
pub fn add_remote(
    file: &Path,
    kinds: &dyn RemoteKinds,
    new: &NewRemote<'_>,
    check: impl Fn(&ProjectConfig, &Remote) -> Result<(), Error>,
) -> Result<(), Error> {
    let text = text_of(file).map_err(Error::usage)?;
    if parse(&text, file, kinds)?.remote(new.name).is_some() {
        return Err(Error::usage(format!("there is a remote `{}` already", new.name))
            .hint(format!("`cwm remote remove {}` removes it", new.name)));
    }
    let mut lines = vec![format!("[remotes.{}]", Key::new(new.name)), format!("url = {}", Value::from(new.url))];
    lines.extend(new.read_only.then(|| "read_only = true".to_owned()));
    lines.extend(new.options.iter().map(|(key, text)| format!("{key} = {}", Value::from(*text))));
    let above = text.trim_end();
    let gap = if above.is_empty() { "" } else { "\n\n" };
    let text = format!("{above}{gap}{}\n", lines.join("\n"));
    // The file was right before, so each problem is one of the arguments.
    let config = parse(&text, file, kinds).map_err(|problems| {
        let first = problems.iter().next().map(|problem| (problem.message.clone(), problem.hint.clone()));
        let (message, hint) = first.unwrap_or_default();
        let error = Error::usage(format!("cannot add the remote `{}`: {message}", new.name));
        hint.into_iter().fold(error, Error::hint)
    })?;
    config.remote(new.name).map_or(Ok(()), |remote| check(&config, remote))?;
    DurableFs::default().replace(file, text.as_bytes(), true).map_err(Error::outside_store)
}

/// Removes a remote from `cwm.toml`.
///
/// # Errors
/// There is none of that name, or the file is wrong or cannot be written.
pub fn remove_remote(file: &Path, kinds: &dyn RemoteKinds, name: &str) -> Result<(), Error> {
    let text = text_of(file).map_err(Error::usage)?;
    parse(&text, file, kinds)?;
    // It has just been read: what is wrong now is a mistake of ours.
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| Error::internal(error.message().to_owned()))?;
    let remotes = document.get_mut("remotes").and_then(Item::as_table_like_mut);
    let removed = remotes.and_then(|remotes| remotes.remove(name));
    let removed = removed.ok_or_else(|| Error::usage(format!("there is no remote `{name}`")))?;
    let above = removed.as_table().and_then(|table| table.decor().prefix()?.as_str()).unwrap_or_default();
    // The comment above a table goes with it, but for the one on the first line: that is the file's.
    let of_file = above.rfind("\n\n").map_or(above, |at| &above[..at + 2]);
    let is_first = text.starts_with(above) && of_file.contains('#');
    let text = format!("{}{document}", if is_first { of_file } else { "" });
    DurableFs::default().replace(file, text.as_bytes(), true).map_err(Error::outside_store)
}
