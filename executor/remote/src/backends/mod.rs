//! The kinds of remotes. Each is a module of this folder and an entry of [`BACKENDS`].

mod aws_profile;
mod azure;
mod bucket;
mod environment;
mod folder;
mod gcs;
mod http;
mod s3;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use object_store::multipart::MultipartStore;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};

use super::error::{RemoteError, Result};
use super::http_connector::{Connector, MAX_REQUESTS};
use cwm_core::suggest;
use cwm_project::config::{InvalidRemote, Remote, RemoteKinds, WHERE_CREDENTIALS_ARE};

pub use folder::check_is_no_store;
#[cfg(test)]
pub use {azure::AZURE, gcs::GCS, s3::S3};

/// All kinds of remotes. A new one is added here.
pub static BACKENDS: &[&Backend] = &[&folder::FOLDER, &s3::S3, &gcs::GCS, &azure::AZURE, &http::HTTP];

/// A kind of remote.
pub struct Backend {
    /// The schemes of its URLs.
    pub schemes: &'static [&'static str],
    /// The form of its URLs, for the help of commands.
    pub url_form: &'static str,
    /// The keys of a remote in cwm.toml that only some kinds have.
    pub option_keys: &'static [OptionKey],
    /// True if it can only be read.
    pub is_read_only: bool,
    /// Advice to a user whose credentials are not found, if this kind needs any.
    pub credentials_advice: Option<&'static str>,
    /// Checks the entry of a remote in cwm.toml, with its URL without the scheme. The error has no text that may hold a credential.
    pub check: fn(&Remote, &str) -> Result<(), InvalidRemote>,
    /// Opens a remote that was checked, with credentials from the environment or the usual files. Nothing is requested yet.
    pub open: fn(&Remote, &str) -> Result<Location>,
}

/// A key of a remote in cwm.toml that only some kinds have, and an option of `cwm remote add`. Its value is text.
pub struct OptionKey {
    /// The key, and the name of the option.
    pub name: &'static str,
    /// The word for its value in the help.
    pub value_name: &'static str,
    /// Its help.
    pub help: &'static str,
}

/// The place of a remote's objects.
pub struct Location {
    /// Its objects.
    pub store: Arc<dyn ObjectStore>,
    /// For uploads in parts that can be resumed. Without it, and without `folder`, an upload reads each object whole into memory.
    pub multipart: Option<Arc<dyn MultipartStore>>,
    /// The prefix of all names, without slashes at its ends.
    pub prefix: String,
    /// The folder, if it is one: cwm writes to it by itself.
    pub folder: Option<PathBuf>,
}

impl Location {
    /// A bucket, whose uploads can be resumed.
    fn bucket<S: ObjectStore + MultipartStore>(store: S, prefix: &str) -> Location {
        let store = Arc::new(store);
        Location { store: store.clone(), multipart: Some(store), prefix: prefix.to_owned(), folder: None }
    }
}

/// Opens a remote of any kind. Returns its backend, too.
///
/// # Errors
/// Its URL, settings or credentials are wrong.
pub fn open(remote: &Remote) -> Result<(&'static Backend, Location)> {
    let refused = |invalid: InvalidRemote| RemoteError::Unsupported(invalid.message);
    let (backend, rest) = backend_of(&remote.url).map_err(refused)?;
    (backend.check)(remote, rest).map_err(refused)?;
    Ok((backend, (backend.open)(remote, rest)?))
}

/// The kinds of remotes, as the reader of cwm.toml needs them.
pub struct Kinds;

impl Kinds {
    /// Returns the keys that only some kinds have, by name.
    pub fn options() -> BTreeMap<&'static str, &'static OptionKey> {
        BACKENDS.iter().flat_map(|backend| backend.option_keys).map(|key| (key.name, key)).collect()
    }

    /// Returns the forms of the URLs of all kinds, for the help of commands.
    pub fn url_forms() -> String {
        BACKENDS.iter().map(|backend| backend.url_form).collect::<Vec<_>>().join(", ")
    }
}

impl RemoteKinds for Kinds {
    fn check(&self, remote: &Remote) -> Result<(), InvalidRemote> {
        let (backend, rest) = backend_of(&remote.url)?;
        (backend.check)(remote, rest)
    }

    fn is_read_only(&self, url: &str) -> bool {
        backend_of(url).is_ok_and(|(backend, _)| backend.is_read_only)
    }

    fn option_keys(&self, url: &str) -> Vec<&'static str> {
        match backend_of(url) {
            Ok((backend, _)) => backend.option_keys.iter().map(|key| key.name).collect(),
            Err(_) => Kinds::options().into_keys().collect(),
        }
    }
}

/// The backend of a URL, and the URL without its scheme. A path without a scheme is a folder's.
fn backend_of(url: &str) -> Result<(&'static Backend, &str), InvalidRemote> {
    let of = |scheme: &str| BACKENDS.iter().find(|backend| backend.schemes.contains(&scheme)).copied();
    if url.is_empty() || url.contains(char::is_control) {
        return invalid("a remote's URL must be text on one line", None);
    }
    let Some((scheme, rest)) = url.split_once("://") else {
        let scheme = url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
        if scheme.is_some_and(|scheme| of(&scheme).is_some()) {
            let hint = "such as `s3://bucket/prefix`; a folder that is called so is written with `./` before it";
            return invalid("a remote's URL has two slashes behind its scheme", Some(hint));
        }
        // `host:path` and `user@host:path`, as other programs write them, and `//host/path`.
        let is_path = url.starts_with(['.', '/']) && !url.starts_with("//");
        if !is_path && (url.starts_with("//") || url.contains(':') && url.contains('@')) {
            let hint = "a folder that is called so is written with `./` before it; what is on another machine is mounted first";
            return invalid("a remote is a folder here, or a URL with a scheme", Some(hint));
        }
        return Ok((&folder::FOLDER, url));
    };
    let Some(backend) = of(&scheme.to_ascii_lowercase()) else {
        let hint = suggest(scheme, "schemes", BACKENDS.iter().flat_map(|backend| backend.schemes).copied());
        // What is no plain word may be a credential that stands at the wrong place.
        let is_word = scheme.len() < 12 && scheme.bytes().all(|byte| byte.is_ascii_alphabetic());
        let message = if is_word { format!("unknown scheme `{scheme}`") } else { "unknown scheme".to_owned() };
        return Err(InvalidRemote { key: "url", message, hint });
    };
    Ok((backend, rest))
}

/// Checks the URL of a server, without its scheme: it names a host or a bucket, and has letters, digits and `others` only. So it
/// has no credentials and no parameters.
fn check_server_url(rest: &str, others: &str) -> Result<(), InvalidRemote> {
    if rest.is_empty() || rest.starts_with('/') {
        return invalid("a remote's URL names a host, or a bucket", Some("such as `s3://bucket/prefix`"));
    }
    if !rest.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c)) {
        let message =
            format!("a remote's URL of this kind has letters from a to z, digits and `{others}`, and no credentials");
        return invalid(&message, Some(WHERE_CREDENTIALS_ARE));
    }
    if rest.trim_end_matches('/').split('/').any(|part| ["", ".", ".."].contains(&part)) {
        return invalid("a remote's URL has single slashes, and no part that is `.` or `..`", None);
    }
    Ok(())
}

fn invalid<T>(message: &str, hint: Option<&str>) -> Result<T, InvalidRemote> {
    Err(InvalidRemote { key: "url", message: message.to_owned(), hint: hint.map(str::to_owned) })
}

/// The longest time that a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Makes the client of a builder of `object_store`. `$sources` are the variables and files that its settings come from.
macro_rules! connect {
    ($builder:expr, $remote:expr, $kind:expr, $sources:expr) => {{
        let (connector, retries, options) = super::connection($remote);
        let builder = $builder.with_http_connector(connector).with_retry(retries).with_client_options(options);
        builder.build().map_err(|error| super::misconfigured(&error, &$kind, &$sources))?
    }};
}
use connect;

/// The connections of a remote. `object_store` retries requests for as long as the remote may be silent.
fn connection(remote: &Remote) -> (Connector, RetryConfig, ClientOptions) {
    let backoff = BackoffConfig { max_backoff: Duration::from_secs(5), ..BackoffConfig::default() };
    let retries = RetryConfig { backoff, max_retries: 7, retry_timeout: remote.timeout };
    let options = ClientOptions::new()
        .with_allow_http(true)
        .with_timeout_disabled()
        .with_connect_timeout(CONNECT_TIMEOUT.min(remote.timeout))
        .with_pool_max_idle_per_host(MAX_REQUESTS);
    (Connector { idle_timeout: remote.timeout }, retries, options)
}

/// The error of a builder: nothing was requested, so that a retry does not help.
fn misconfigured(error: &object_store::Error, kind: &Backend, sources: &str) -> RemoteError {
    match RemoteError::of(error, kind.credentials_advice) {
        RemoteError::Unsupported(reason) | RemoteError::Unreachable(reason) => {
            RemoteError::Unsupported(format!("the settings in {sources}: {reason}"))
        }
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(url: &str) -> Remote {
        Remote {
            name: "lab".into(),
            url: url.into(),
            base: "/site".into(),
            read_only: false,
            options: Default::default(),
            timeout: Duration::from_secs(1),
        }
    }

    #[test]
    fn urls_are_of_a_kind_or_refused() {
        for url in [
            "gs://b/",
            "AZ://c/p/q/",
            "file:///mnt/x",
            "../x y",
            "./s3:/x",
            "s3.d/x:y",
            "https://h:80/a%20b/year=2024/x~y",
            "https://h/keys",
            "/mnt/a@b:c",
            "./a:b@c",
        ] {
            Kinds.check(&remote(url)).unwrap_or_else(|refused| panic!("{url}: {}", refused.message));
        }
        for url in [
            "",
            "a\nb",
            "s3://",
            "s3:///x",
            "s3://b//x",
            "s3://b/../x",
            "s3://b/x y",
            "s3://b!",
            "http://",
            "http://h/../x",
            "http://h/a b",
            "file://x",
            "file:///a%20b",
            "~/x",
            "s4://b",
            "s3:/bucket",
            "S3:bucket/x",
            "https:/example.org",
            "file:/mnt/x",
        ] {
            assert!(!Kinds.check(&remote(url)).expect_err(url).message.is_empty());
        }
        assert_eq!(Kinds.check(&remote("s4://b")).unwrap_err().hint.unwrap(), "did you mean `s3`?");
        assert!(Kinds.is_read_only("https://h/x") && !Kinds.is_read_only("s3://b"));
    }

    #[test]
    fn a_url_with_credentials_is_refused_and_not_repeated() {
        for url in [
            "https://ada:hunter2@example.org/cwm",
            "https://ada:hun/hunter2@example.org",
            "file:///hunter2%20",
            "https://h/x;token=hunter2",
            "https://h/x/token=hunter2",
            "https://h/x%3Ftoken%3Dhunter2",
            "https://h/x&sig=hunter2",
            "https://h/x?sig=hunter2",
            "https://u:hunter2@h/x",
            "https:/u:hunter2@h/x",
            "s3:u:hunter2@h/x",
            "s3://AKIAX:hunter2@bucket/x",
            "s3://b/x%3Fsecret=hunter2",
            "s3://b:hunter2/x",
            "az://container/x#hunter2",
            "hunter2hunter2://b",
            "user:hunter2@host:/p",
            "//u:hunter2@h/x",
            "file://u:hunter2@h/x",
        ] {
            let refused = Kinds.check(&remote(url)).expect_err(url);
            assert!(!refused.message.contains("hunter2") && !refused.hint.unwrap_or_default().contains("hunter2"));
        }
    }

    #[test]
    fn options_belong_to_a_kind() {
        assert_eq!(Kinds.option_keys("s3://b"), ["endpoint", "region"]);
        assert!(Kinds.option_keys("gs://b").is_empty());
        let with = |value: &str| Remote { options: [("endpoint".into(), value.into())].into(), ..remote("s3://b") };
        assert_eq!(Kinds.check(&with("https://a:hunter2@x")).unwrap_err().key, "endpoint");
        Kinds.check(&with("https://minio.example.org:9000")).expect("it is one");
    }

    #[test]
    fn the_forms_of_urls_show_every_kind() {
        let forms = Kinds::url_forms();
        assert!(forms.starts_with("a folder, s3://BUCKET/PREFIX, ") && forms.ends_with("(read only)"), "{forms}");
        assert_eq!(forms.split(", ").count(), BACKENDS.len(), "{forms}");
    }
}
