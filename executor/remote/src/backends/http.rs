//! Remotes behind a web server: `https://host/path`. They can only be read, and cannot be listed.

use std::sync::Arc;

use object_store::http::HttpBuilder;

use super::{Backend, OpenedRemote, check_server_url, client_options, connector, invalid, misconfigured, retries};
use crate::error::RemoteError;
use cwm_project::site::{InvalidRemote, Remote, WHERE_CREDENTIALS_ARE, is_secret};

/// A folder that a web server hands out.
pub struct Http;

impl Backend for Http {
    fn schemes(&self) -> &'static [&'static str] {
        &["http", "https"]
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn check(&self, _: &Remote, rest: &str) -> Result<(), InvalidRemote> {
        check_server_url(rest)?;
        if rest.contains(char::is_whitespace) || rest.split('/').any(|part| part == "." || part == "..") {
            return invalid("a remote's URL has no spaces, and no part that is `.` or `..`", None);
        }
        if has_parameters(rest) {
            return invalid("a remote's URL has no parameters", Some(WHERE_CREDENTIALS_ARE));
        }
        Ok(())
    }

    fn open(&self, remote: &Remote, _: &str) -> Result<OpenedRemote, RemoteError> {
        let builder = HttpBuilder::new()
            .with_url(remote.url.trim_end_matches('/'))
            .with_http_connector(connector(remote))
            .with_retry(retries(remote))
            .with_client_options(client_options(remote, true));
        let store = Arc::new(builder.build().map_err(misconfigured)?);
        Ok(OpenedRemote { store, multipart: None, prefix: String::new(), folder: None })
    }

    fn classify_error(&self, error: &object_store::Error) -> Option<RemoteError> {
        use object_store::Error::{PermissionDenied, Unauthenticated};
        // After the status comes a page for people.
        let text = error.to_string();
        let status = text.split("status code: ").nth(1)?.split(':').next()?.trim().to_owned();
        let is_denied = matches!(error, PermissionDenied { .. } | Unauthenticated { .. });
        is_denied.then_some(RemoteError::Denied { reason: status, is_web: true })
    }
}

/// True if the path of a URL holds what servers take for parameters, as it is or percent-encoded.
fn has_parameters(path: &str) -> bool {
    let encoded = path.split('%').skip(1).map(|part| part.get(..2).unwrap_or_default().to_ascii_lowercase());
    let reserved = ["23", "25", "26", "3a", "3b", "3d", "3f", "40", "5c"];
    let mut named = path.split('/').filter_map(|part| part.split_once('='));
    path.contains([';', '&', '\\'])
        || encoded.into_iter().any(|code| reserved.contains(&code.as_str()))
        || named.any(|(name, _)| is_secret(name))
}
