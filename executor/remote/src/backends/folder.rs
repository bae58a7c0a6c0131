//! Remotes that are folders of this machine, or mounted: a path, or `file:///path`.

use std::path::Path;
use std::sync::Arc;

use object_store::local::LocalFileSystem;

use super::{Backend, Location, backend_of, invalid};
use crate::error::Result;
use cwm_core::Error;
use cwm_core::files::{is_store, resolve};
use cwm_project::config::{InvalidRemote, Remote};

/// Folders.
pub static FOLDER: Backend = Backend {
    schemes: &["file"],
    url_form: "a folder",
    option_keys: &[],
    is_read_only: false,
    credentials_advice: None,
    check,
    open,
};

fn check(remote: &Remote, rest: &str) -> Result<(), InvalidRemote> {
    let is_url = remote.url.contains("://");
    if is_url && rest.contains('%') {
        return invalid("a folder's path is written as it is, without `%`", None);
    }
    if is_url && !rest.starts_with('/') {
        return invalid("a `file://` URL has an absolute path: `file:///mnt/shared/cwm`", None);
    }
    if rest.starts_with('~') {
        return invalid("`~` is expanded only by shells", Some("write the path of the folder itself"));
    }
    Ok(())
}

fn open(remote: &Remote, rest: &str) -> Result<Location> {
    // Names in `object_store` cannot hold `..`.
    let folder = Some(resolve(&remote.base.join(rest)));
    Ok(Location { store: Arc::new(LocalFileSystem::new()), multipart: None, prefix: String::new(), folder })
}

/// Refuses a folder that is a store or lies in one: nothing of the store names what is pushed there, so that its `gc` would delete
/// it. `own` is the store that is used here, which need not exist yet.
///
/// # Errors
/// It is one, with what to do.
pub fn check_is_no_store(remote: &Remote, own: &Path) -> Result<(), Error> {
    let Some((_, path)) = backend_of(&remote.url).ok().filter(|(kind, _)| kind.schemes == FOLDER.schemes) else {
        return Ok(());
    };
    let (folder, own) = (resolve(&remote.base.join(path)), resolve(own));
    let Some(store) = folder.ancestors().find(|above| is_store(above) || own == **above) else { return Ok(()) };
    let whose = if own == store { "the store that is used here" } else { "a store of cwm" };
    let what = if store == folder { format!("is {whose}") } else { format!("is in {whose}, {}", store.display()) };
    let message = format!(
        "the remote `{}` cannot be {}: it {what}, whose `gc` would delete what is pushed there",
        remote.name,
        folder.display()
    );
    Err(Error::usage(message)
        .hint("give the remote a folder of its own; to share a store itself, name it with `store = \"…\"` in cwm.toml"))
}
