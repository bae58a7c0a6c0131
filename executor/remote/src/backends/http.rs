//! Remotes behind a web server: `https://host/path`. They can only be read, and cannot be listed.

use std::sync::Arc;

use object_store::http::HttpBuilder;

use super::{Backend, Location, check_server_url, connect, invalid};
use crate::error::Result;
use cwm_project::config::{InvalidRemote, Remote, WHERE_CREDENTIALS_ARE, is_secret};

/// Folders that web servers hand out.
pub static HTTP: Backend = Backend {
    schemes: &["http", "https"],
    url_form: "http://HOST/PATH or https://HOST/PATH (read only)",
    option_keys: &[],
    is_read_only: true,
    credentials_advice: None,
    check,
    open,
};

/// Checks the URL of a web server.
///
/// # Errors
/// It is none, or may hold a credential.
pub fn check(_: &Remote, rest: &str) -> Result<(), InvalidRemote> {
    check_server_url(rest, "-_.~:/%=+,[]")?;
    if has_parameters(rest) {
        return invalid("a remote's URL has no parameters", Some(WHERE_CREDENTIALS_ARE));
    }
    Ok(())
}

fn open(remote: &Remote, _: &str) -> Result<Location> {
    let store = connect!(HttpBuilder::new().with_url(remote.url.trim_end_matches('/')), remote, HTTP, "cwm.toml");
    Ok(Location { store: Arc::new(store), multipart: None, prefix: String::new(), folder: None })
}

/// Returns true if the path of a URL holds what servers take for parameters, as it is or percent-encoded.
fn has_parameters(path: &str) -> bool {
    let encoded = path.split('%').skip(1).map(|part| part.get(..2).unwrap_or_default().to_ascii_lowercase());
    let reserved = ["23", "25", "26", "3a", "3b", "3d", "3f", "40", "5c"];
    let mut named = path.split('/').filter_map(|part| part.split_once('='));
    encoded.into_iter().any(|code| reserved.contains(&code.as_str())) || named.any(|(name, _)| is_secret(name))
}
