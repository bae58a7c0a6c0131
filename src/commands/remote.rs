//! `cwm remote`: the remotes of `cwm.toml`.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::{RemoteArguments, RemoteCommand};
use crate::locate::{pipeline_file, store_folder};
use crate::output::{columns, is_json, print_note, print_result};
use cwm_core::{Error, escape_controls, folder_of};
use cwm_project::config::{NewRemote, ProjectConfig, Remote, add_remote, remove_remote};
use cwm_remote::Kinds;

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
            add_remote(&ProjectConfig::path_for(&file), &Kinds, &new, |config, remote| {
                cwm_remote::check_is_no_store(remote, &store_folder(store, config, folder_of(&file)))
            })?;
        }
        RemoteCommand::Remove { name } => remove_remote(&ProjectConfig::path_for(&file), &Kinds, name)?,
        RemoteCommand::List => return list_remotes(&file),
    }
    if is_json() { list_remotes(&file) } else { Ok(()) }
}

fn list_remotes(file: &Path) -> Result<(), Error> {
    let config = ProjectConfig::of(file, &Kinds)?;
    if config.remotes.is_empty() && !is_json() {
        print_note("no remotes; `cwm remote add NAME URL` adds one");
        return Ok(());
    }
    // A push goes there unless another one is named.
    let pushed_to = config.remotes.iter().find(|remote| !remote.read_only).map(|remote| &remote.name);
    let row = |remote: &Remote| {
        let is_pushed_to = Some(&remote.name) == pushed_to;
        json!({ "name": remote.name, "url": remote.url, "read_only": remote.read_only, "pushed_to": is_pushed_to })
    };
    let line = |remote: &Remote| {
        let note = match remote.read_only {
            true => "  (read only)",
            false if Some(&remote.name) == pushed_to => "  (pushes go there)",
            false => "",
        };
        [remote.name.clone(), escape_controls(&remote.url) + note]
    };
    let rows: Vec<Value> = config.remotes.iter().map(row).collect();
    print_result(&rows, || columns(config.remotes.iter().map(line)))
}
