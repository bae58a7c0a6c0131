//! The kinds of remotes. Each is a file here and a line in [`BACKENDS`].

pub mod aws_profile;
pub mod azure;
mod bucket;
mod environment;
pub mod folder;
pub mod gcs;
mod http;
pub mod s3;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use object_store::multipart::MultipartStore;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};

use super::error::RemoteError;
use super::http_connector::{Connector, MAX_REQUESTS};
use cwm_core::{Error, suggest};
use cwm_project::site::{InvalidRemote, Remote, RemoteKinds, WHERE_CREDENTIALS_ARE};

/// All kinds of remotes. A new one is added here.
pub static BACKENDS: [&dyn Backend; 5] = [&folder::Folder, &s3::S3, &gcs::Gcs, &azure::Azure, &http::Http];

/// A kind of remote.
pub trait Backend: Sync {
    /// The schemes of its URLs.
    fn schemes(&self) -> &'static [&'static str];

    /// The keys of a remote in cwm.toml that this kind alone has. Their values are text.
    fn option_keys(&self) -> &'static [&'static str] {
        &[]
    }

    /// True if it can only be read.
    fn is_read_only(&self) -> bool {
        false
    }

    /// Checks what cwm.toml says of a remote. `rest` is the URL without its scheme.
    ///
    /// # Errors
    /// The fault, without repeating text that may hold a credential.
    fn check(&self, remote: &Remote, rest: &str) -> Result<(), InvalidRemote>;

    /// Opens a remote that was checked, with credentials from the environment or the usual files. Nothing is requested yet.
    ///
    /// # Errors
    /// Settings or credentials do not fit together.
    fn open(&self, remote: &Remote, rest: &str) -> Result<OpenedRemote, RemoteError>;

    /// The meaning of an error that only this kind of remote has.
    fn classify_error(&self, _error: &object_store::Error) -> Option<RemoteError> {
        None
    }
}

/// A remote that requests can be made of.
pub struct OpenedRemote {
    /// Its objects.
    pub store: Arc<dyn ObjectStore>,
    /// For uploads in parts that can be resumed.
    pub multipart: Option<Arc<dyn MultipartStore>>,
    /// The prefix of all names, without slashes at its ends.
    pub prefix: String,
    /// The folder, if it is one: cwm writes to it by itself.
    pub folder: Option<PathBuf>,
}

impl OpenedRemote {
    /// A bucket, whose uploads can be resumed.
    fn bucket<S: ObjectStore + MultipartStore>(store: S, prefix: &str) -> OpenedRemote {
        let store = Arc::new(store);
        OpenedRemote { store: store.clone(), multipart: Some(store), prefix: prefix.to_owned(), folder: None }
    }
}

/// Opens a remote of any kind. Returns its backend, too.
///
/// # Errors
/// Its URL, settings or credentials are wrong.
pub fn open(remote: &Remote) -> Result<(&'static dyn Backend, OpenedRemote), RemoteError> {
    let refused = |invalid: InvalidRemote| RemoteError::Refused(invalid.message);
    let (backend, rest) = backend_of(&remote.url).map_err(refused)?;
    backend.check(remote, rest).map_err(refused)?;
    Ok((backend, backend.open(remote, rest)?))
}

/// The meaning of an error of this kind of remote.
pub fn classify(backend: &dyn Backend, error: object_store::Error) -> RemoteError {
    backend.classify_error(&error).unwrap_or_else(|| error.into())
}

/// Refuses a folder that is a store or lies in one: nothing of the store names what is pushed there, so that its `gc` would delete
/// it. `own` is the store that is used here, which need not exist yet.
///
/// # Errors
/// It is one, with what to do.
pub fn check_is_no_store(remote: &Remote, own: Option<&Path>) -> Result<(), Error> {
    folder::path_of(remote).map_or(Ok(()), |path| folder::check_is_no_store(&remote.name, &path, own))
}

/// The kinds of remotes, as the reader of cwm.toml needs them.
pub struct Kinds;

impl RemoteKinds for Kinds {
    fn check(&self, remote: &Remote) -> Result<(), InvalidRemote> {
        let (backend, rest) = backend_of(&remote.url)?;
        backend.check(remote, rest)
    }

    fn is_read_only(&self, url: &str) -> bool {
        backend_of(url).is_ok_and(|(backend, _)| backend.is_read_only())
    }

    fn option_keys(&self, url: &str) -> Vec<&'static str> {
        let found = backend_of(url).map(|(backend, _)| backend);
        let kinds = BACKENDS.iter().filter(|kind| found.as_ref().map_or(true, |one| one.schemes() == kind.schemes()));
        kinds.flat_map(|kind| kind.option_keys()).copied().collect()
    }
}

/// The backend of a URL, and the URL without its scheme. A path without a scheme is a folder's.
fn backend_of(url: &str) -> Result<(&'static dyn Backend, &str), InvalidRemote> {
    let of = |scheme: &str| BACKENDS.iter().find(|backend| backend.schemes().contains(&scheme)).copied();
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
        return Ok((&folder::Folder, url));
    };
    let Some(backend) = of(&scheme.to_ascii_lowercase()) else {
        let hint = suggest(scheme, "schemes", BACKENDS.iter().flat_map(|backend| backend.schemes()).copied());
        // Text before `://` is shown only if it looks like a scheme.
        let is_short = !scheme.is_empty() && scheme.len() <= 10;
        let is_scheme = is_short && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
        let named = if is_scheme { format!(" with the scheme `{scheme}`") } else { String::new() };
        return Err(InvalidRemote { key: "url", message: format!("there are no remotes{named}"), hint });
    };
    Ok((backend, rest))
}

/// Refuses credentials in the URL of a server, and a URL that names none.
fn check_server_url(rest: &str) -> Result<(), InvalidRemote> {
    if rest.contains('@') {
        return invalid("a remote's URL holds no credentials", Some(WHERE_CREDENTIALS_ARE));
    }
    if rest.contains(['?', '#']) {
        return invalid("a remote's URL has no `?` and no `#`", Some(WHERE_CREDENTIALS_ARE));
    }
    if rest.is_empty() || rest.starts_with('/') {
        return invalid("a remote's URL names a host, or a bucket", Some("such as `s3://bucket/prefix`"));
    }
    Ok(())
}

fn invalid<T>(message: &str, hint: Option<&str>) -> Result<T, InvalidRemote> {
    Err(InvalidRemote { key: "url", message: message.to_owned(), hint: hint.map(str::to_owned) })
}

/// The longest time that a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// `object_store` retries requests after these pauses for as long as a remote may be silent.
fn retries(remote: &Remote) -> RetryConfig {
    let backoff = BackoffConfig { max_backoff: Duration::from_secs(5), ..BackoffConfig::default() };
    RetryConfig { backoff, max_retries: 7, retry_timeout: remote.timeout }
}

/// Limits the time until an answer begins. A whole transfer, which may be long, has no limit.
fn connector(remote: &Remote) -> Connector {
    Connector { idle_timeout: remote.timeout }
}

fn client_options(remote: &Remote, allow_http: bool) -> ClientOptions {
    ClientOptions::new()
        .with_allow_http(allow_http)
        .with_timeout_disabled()
        .with_connect_timeout(CONNECT_TIMEOUT.min(remote.timeout))
        .with_pool_max_idle_per_host(MAX_REQUESTS)
}

/// True if an address says that requests go without TLS.
fn is_http(address: Option<String>) -> bool {
    address.is_some_and(|address| address.starts_with("http://"))
}

/// The error of a builder: nothing was requested, so that a retry does not help.
fn misconfigured(error: object_store::Error) -> RemoteError {
    match RemoteError::from(error) {
        RemoteError::Unreachable(reason) => RemoteError::Refused(reason),
        error => error,
    }
}

/// True if the machine's own credentials service was asked, as the last resort, and there is none or it refuses. That it is busy
/// passes.
fn machine_has_no_credentials(error: &object_store::Error) -> bool {
    let text = error.to_string();
    let status = text.split("status code: ").nth(1).unwrap_or_default();
    let was_asked = super::http_connector::CREDENTIAL_HOSTS.iter().any(|host| text.contains(host));
    was_asked && !status.starts_with('5') && !status.starts_with("429")
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
}
