//! `cwm remote`: the remotes of `cwm.toml`.

use std::path::Path;

use serde::Serialize;

use crate::cli::{RemoteArguments, RemoteCommand};
use crate::locate::{pipeline_file, store_folder};
use crate::output::{columns, is_json, print_answer};
use cwm_core::{Error, visible};
use cwm_project::site::{NewRemote, Remote, Site, add_remote, remove_remote};
use cwm_remote::Kinds;

/// A remote of `cwm.toml`.
#[derive(Serialize)]
struct Row {
    name: String,
    url: String,
    read_only: bool,
    /// True if a push goes there unless another one is named.
    pushed_to: bool,
}

/// Runs `cwm remote`. It sends no request to a remote.
///
/// # Errors
/// There is no pipeline, `cwm.toml` is wrong or cannot be written, or the remote is not as it should be.
pub fn run(store: Option<&Path>, arguments: &RemoteArguments) -> Result<(), Error> {
    let file = pipeline_file(arguments.file.as_deref())?;
    match &arguments.command {
        RemoteCommand::Add(add) => {
            let options = add.options.0.iter().map(|(key, value)| (*key, value.as_str())).collect();
            let new = NewRemote { name: &add.name, url: &add.url, read_only: add.read_only, options };
            let folder = file.parent().unwrap_or(Path::new("."));
            add_remote(&Site::path_for(&file), &Kinds, &new, |site, remote| {
                cwm_remote::check_is_no_store(remote, &store_folder(store, site, folder))
            })?;
        }
        RemoteCommand::Remove { name } => remove_remote(&Site::path_for(&file), &Kinds, name)?,
        RemoteCommand::List => return list_remotes(&file),
    }
    if is_json() { list_remotes(&file) } else { Ok(()) }
}

fn list_remotes(file: &Path) -> Result<(), Error> {
    let site = Site::of(file, &Kinds)?;
    let pushed_to = site.remotes.iter().position(|remote| !remote.read_only);
    let row = |(at, remote): (usize, Remote)| Row {
        name: remote.name,
        url: remote.url,
        read_only: remote.read_only,
        pushed_to: Some(at) == pushed_to,
    };
    let rows: Vec<Row> = site.remotes.into_iter().enumerate().map(row).collect();
    if rows.is_empty() && !is_json() {
        return Err(Error::usage("there are no remotes").hint("`cwm remote add NAME URL` writes one into cwm.toml"));
    }
    let line = |row: &Row| {
        let note = match row {
            Row { read_only: true, .. } => "  (read only)",
            Row { pushed_to: true, .. } => "  (pushes go there)",
            Row { .. } => "",
        };
        [row.name.clone(), visible(&row.url) + note]
    };
    print_answer(&rows, || columns(rows.iter().map(line)))
}
