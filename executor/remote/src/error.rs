//! The errors of remotes, by what is to be done about them.

use std::error::Error as _;
use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use thiserror::Error;

use super::http_connector::CREDENTIAL_HOSTS;
use cwm_core::{FileError, shorten};

/// The reason why a transfer failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RemoteError {
    /// The remote answered that it does not have it.
    #[error("is not there")]
    NotFound,
    /// The remote did not answer, or not completely: nothing is known.
    #[error("could not be reached: {0}")]
    Unreachable(String),
    /// The remote answered that it does not do this.
    #[error("refused: {0}")]
    Unsupported(String),
    /// The remote answered with 401 or 403.
    #[error("access denied{0}")]
    AccessDenied(String),
    /// cwm or a library panicked.
    #[error("failed: cwm or a library panicked, which is a bug; standard error shows where")]
    Panicked,
    /// There are no credentials, neither in the environment nor in files nor from the machine itself. The text is what to set.
    #[error("needs credentials, and none were found: {0}")]
    NoCredentials(&'static str),
    /// The remote sent something else than it should.
    #[error("{0}")]
    Invalid(String),
    /// The error is this machine's, such as one of its store.
    #[error("{0}")]
    Local(String),
}

/// The result of work with a remote.
pub type Result<T, E = RemoteError> = std::result::Result<T, E>;

/// The longest text of a server that is shown.
const MAX_SHOWN: usize = 300;

impl RemoteError {
    /// Classifies an error of a remote. `advice` is about credentials; a web server gets none.
    pub fn of(error: &object_store::Error, advice: Option<&'static str>) -> RemoteError {
        use object_store::Error;
        let (reason, text) = (reason(error), error.to_string());
        let status = text.split_once(STATUS).map(|(_, status)| status);
        let no_bucket = ["NoSuchBucket", "ContainerNotFound", "The specified bucket does not exist"];
        match (error, advice, status) {
            (Error::NotFound { .. }, ..) if no_bucket.iter().any(|text| reason.contains(text)) => {
                RemoteError::Unsupported("there is no such bucket".to_owned())
            }
            (Error::NotFound { .. }, ..) => RemoteError::NotFound,
            // After the status of a web server comes a page for people.
            (Error::PermissionDenied { .. } | Error::Unauthenticated { .. }, None, Some(status)) => {
                let status = status.split(':').next().unwrap_or_default().trim();
                RemoteError::AccessDenied(format!(" by the server ({status})"))
            }
            (Error::PermissionDenied { .. } | Error::Unauthenticated { .. }, ..) => {
                RemoteError::AccessDenied(format!(": the credentials are not right, or do not allow it ({reason})"))
            }
            (Error::Generic { .. }, Some(advice), _) if has_no_credentials(&text, status) => {
                RemoteError::NoCredentials(advice)
            }
            (Error::Generic { .. }, ..) if is_final(&text, status) => RemoteError::Unsupported(reason),
            (Error::Generic { .. } | Error::JoinError { .. }, ..) => RemoteError::Unreachable(reason),
            _ => RemoteError::Unsupported(reason),
        }
    }

    /// Returns the error of content that ends too early.
    pub fn too_short() -> RemoteError {
        RemoteError::Invalid("is shorter than it should be".to_owned())
    }

    /// Returns nothing for what the remote does not have.
    ///
    /// # Errors
    /// Any other error.
    pub fn optional<T>(result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(found) => Ok(Some(found)),
            Err(RemoteError::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns true if the same request may succeed in a moment.
    pub fn is_transient(&self) -> bool {
        matches!(self, RemoteError::Unreachable(_))
    }

    /// Returns true if it is known whether the remote has what was requested.
    pub fn is_conclusive(&self) -> bool {
        !matches!(self, RemoteError::Unreachable(_) | RemoteError::Panicked)
    }

    /// Returns true if the remote answered, and will refuse every other request as well.
    pub fn is_permanent(&self) -> bool {
        matches!(self, RemoteError::Unsupported(_) | RemoteError::AccessDenied(_) | RemoteError::NoCredentials(_))
    }
}

impl From<FileError> for RemoteError {
    fn from(error: FileError) -> Self {
        RemoteError::Local(error.to_string())
    }
}

/// Returns the output of work that may panic: a panic becomes an error, so that nobody waits for the end forever.
pub async fn catch_panic<T>(work: impl Future<Output = T>) -> Result<T> {
    AssertUnwindSafe(work).catch_unwind().await.map_err(|_| RemoteError::Panicked)
}

/// Runs work that waits for the disk, on a thread of its own.
///
/// # Errors
/// Those of the work.
pub async fn blocking<T, E>(work: impl FnOnce() -> Result<T, E> + Send + 'static) -> Result<T>
where
    T: Send + 'static,
    E: Into<RemoteError> + Send + 'static,
{
    let outcome = tokio::task::spawn_blocking(work).await;
    outcome.map_err(|error| RemoteError::Local(error.to_string()))?.map_err(E::into)
}

/// Separates what was requested, and how often, from what the server answered.
const STATUS: &str = "status code: ";

/// Returns true if the last resort, the machine's own credentials service, does not exist or refuses. That it is busy passes.
fn has_no_credentials(text: &str, status: Option<&str>) -> bool {
    let is_last_resort = CREDENTIAL_HOSTS.iter().any(|host| text.contains(host));
    let is_busy = status.is_some_and(|status| status.starts_with('5') || status.starts_with("429"));
    is_last_resort && !is_busy || text.contains("Account must be specified")
}

/// Returns true if the server understood and refused: with any status of 4xx but those that mean "later".
fn is_final(text: &str, status: Option<&str>) -> bool {
    let of_builders = ["no credentials", "Missing", "not configured", "Unable to parse", "Invalid", "non-partial"];
    match status {
        Some(status) if ["408", "409", "425", "429"].iter().any(|later| status.starts_with(later)) => false,
        Some(status) => status.starts_with(['3', '4']),
        None => of_builders.iter().any(|word| text.contains(word)),
    }
}

/// The server's answer, or else the innermost cause, in one short line without secrets. The URL, the number of retries and the
/// time that the library adds are left out, since they differ from one request to the next.
fn reason(error: &object_store::Error) -> String {
    let whole = error.to_string();
    let mut cause = whole.clone();
    let mut source = error.source();
    while let Some(inner) = source {
        cause = inner.to_string();
        source = inner.source();
    }
    let text = match whole.split_once(STATUS) {
        Some((_, answer)) => answer.trim_end_matches([' ', ':']).to_owned(),
        // The innermost word for a broken connection can be too short to be understood.
        None if cause.len() < 8 => whole,
        None => cause,
    };
    let text = code_and_message(&text);
    // A URL may hold a secret.
    let words = text.split_whitespace().map(|word| if word.contains(":/") { "(URL)" } else { word });
    let line = words.collect::<Vec<_>>().join(" ");
    shorten(line.trim_end_matches([' ', ':']), MAX_SHOWN)
}

/// Reduces a server's reply in XML to its code and its message: the rest repeats what was sent, such as the session's token, the
/// name of the key and the signature.
fn code_and_message(line: &str) -> String {
    let Some(at) = ["<?xml", "<Error"].iter().filter_map(|begin| line.find(begin)).min() else {
        return line.to_owned();
    };
    let (before, reply) = line.split_at(at);
    let part = |name: &str| {
        let from = reply.split_once(&format!("<{name}>"))?.1;
        Some(from.split_once(&format!("</{name}>"))?.0.trim())
    };
    let parts: Vec<&str> = ["Code", "Message"].into_iter().filter_map(part).collect();
    format!("{}{}", before, parts.join(": "))
}

#[cfg(test)]
mod tests {
    use super::super::backends::{AZURE, Backend, GCS, S3};
    use super::*;

    fn generic(backend: &Backend, words: &str) -> RemoteError {
        let error = object_store::Error::Generic { store: "", source: words.to_owned().into() };
        RemoteError::of(&error, backend.credentials_advice)
    }

    #[test]
    fn missing_credentials_come_with_what_to_set() {
        let no = "Error performing PUT http://169.254.169.254/latest/api/token in 1ms - ";
        let refused = format!("{no}Server returned non-2xx status code: 403 Forbidden: no");
        let nobody = format!("{no}HTTP error: error sending request: operation timed out");
        for words in [&refused, &nobody] {
            let advice: [(&Backend, &str); 3] = [
                (&S3, "AWS_ACCESS_KEY_ID"),
                (&GCS, "application-default login"),
                (&AZURE, "AZURE_STORAGE_ACCOUNT_KEY"),
            ];
            for (backend, advice) in advice {
                let error = generic(backend, words);
                assert!(matches!(error, RemoteError::NoCredentials(_)) && !error.is_transient(), "{error:?}");
                assert!(error.to_string().contains(advice), "{}", error.to_string());
            }
        }
        assert!(generic(&AZURE, "Account must be specified").to_string().contains("AZURE_STORAGE_ACCOUNT_NAME"));
        // Its own service is busy, or another server is away.
        let busy = format!("{no}Server returned non-2xx status code: 503 Service Unavailable: later");
        assert!(generic(&S3, &busy).is_transient());
        assert!(
            generic(&S3, "Error performing GET http://localhost:1/b - HTTP error: connection refused").is_transient()
        );
    }

    /// Amazon's servers send back the token that they refuse.
    #[test]
    fn credentials_that_a_server_repeats_are_not_shown() {
        let refused = "Error performing GET https://b.s3.amazonaws.com/x in 1ms - Server returned non-2xx status code: 403 Forbidden: ";
        for reply in [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>InvalidToken</Code><Message>The provided token is malformed.</Message><Token-0>hunter2</Token-0></Error>",
            "<Error><AWSAccessKeyId>hunter2</AWSAccessKeyId><Code>SignatureDoesNotMatch</Code><Message>It does not match.</Message></Error>",
            "<Error><Token-0>hunter2",
        ] {
            let words = generic(&S3, &format!("{refused}{reply}")).to_string();
            assert!(!words.contains("hunter2") && words.contains("403 Forbidden"), "{words}");
            assert_eq!(
                words.contains(": It does not match.") || words.contains("InvalidToken: The provided"),
                reply.len() > 40
            );
        }
        let gone = "<?xml version=\"1.0\"?><Error><Code>NoSuchBucket</Code><Message>none</Message></Error>";
        let error = object_store::Error::NotFound { path: "x".to_owned(), source: gone.to_owned().into() };
        assert_eq!(RemoteError::of(&error, None), RemoteError::Unsupported("there is no such bucket".to_owned()));
    }
}
