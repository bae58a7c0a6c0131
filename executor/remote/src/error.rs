//! The errors of remotes, by what is to be done about them.

use std::error::Error as _;
use std::fmt;
use std::panic::AssertUnwindSafe;

use futures::FutureExt;

use super::http_connector::RangeError;
use cwm_core::FileError;

/// Why a transfer failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteError {
    /// The remote answered that it does not have it.
    NotFound,
    /// The remote did not answer, or not completely: nothing is known.
    Unreachable(String),
    /// The remote answered that it does not do this.
    Refused(String),
    /// The remote answered with 401 or 403.
    Denied {
        /// Its answer.
        reason: String,
        /// True if it is a web server, which gets no credentials.
        is_web: bool,
    },
    /// cwm or a library panicked.
    Panicked,
    /// There are no credentials, neither in the environment nor in files nor from the machine itself. The text says what to set.
    NoCredentials(&'static str),
    /// The remote sends only whole files, and a part of one was requested.
    RangesUnsupported,
    /// The remote sent something else than it should.
    Invalid(String),
    /// The error is this machine's, such as one of its store.
    Local(String),
}

/// The longest text of a server that is shown.
const MAX_SHOWN: usize = 300;

impl RemoteError {
    /// True if the same request may succeed in a moment.
    pub fn is_transient(&self) -> bool {
        matches!(self, RemoteError::Unreachable(_))
    }

    /// True if the remote answered, and will refuse every other request as well.
    pub fn is_refusal(&self) -> bool {
        matches!(self, RemoteError::Refused(_) | RemoteError::Denied { .. } | RemoteError::NoCredentials(_))
    }

    /// Adds the variables and files that settings and credentials came from.
    pub fn with_sources(self, sources: &[String]) -> RemoteError {
        match self {
            RemoteError::Refused(reason) if !sources.is_empty() => {
                RemoteError::Refused(format!("what stands in {}: {reason}", sources.join(", ")))
            }
            error => error,
        }
    }
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RemoteError::NotFound => write!(f, "is not there"),
            RemoteError::Unreachable(reason) => write!(f, "could not be reached: {reason}"),
            RemoteError::Refused(reason) => write!(f, "refused: {reason}"),
            RemoteError::Denied { reason, is_web: true } => write!(f, "refused by the server ({reason})"),
            RemoteError::Denied { reason, is_web: false } => {
                write!(f, "refused: the credentials are not right, or do not allow it ({reason})")
            }
            RemoteError::Panicked => {
                write!(f, "could not be asked: cwm or a library panicked, which is a bug; standard error says where")
            }
            RemoteError::NoCredentials(advice) => write!(f, "wants credentials, and none are found: {advice}"),
            RemoteError::RangesUnsupported => write!(f, "refused: {}", RangeError::Whole),
            RemoteError::Invalid(reason) | RemoteError::Local(reason) => write!(f, "{reason}"),
        }
    }
}

impl From<FileError> for RemoteError {
    fn from(error: FileError) -> Self {
        RemoteError::Local(error.to_string())
    }
}

impl From<object_store::Error> for RemoteError {
    fn from(error: object_store::Error) -> Self {
        use object_store::Error;
        match RangeError::source_of(&error) {
            Some(RangeError::Whole) => return RemoteError::RangesUnsupported,
            Some(shorter) => return RemoteError::Invalid(shorter.to_string()),
            None => {}
        }
        let reason = reason(&error);
        let no_bucket = ["NoSuchBucket", "ContainerNotFound", "The specified bucket does not exist"];
        match &error {
            Error::NotFound { .. } if no_bucket.iter().any(|text| reason.contains(text)) => {
                RemoteError::Refused("there is no such bucket".to_owned())
            }
            Error::NotFound { .. } => RemoteError::NotFound,
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
                RemoteError::Denied { reason, is_web: false }
            }
            Error::Generic { .. } if is_final(&error.to_string()) => RemoteError::Refused(reason),
            Error::Generic { .. } | Error::JoinError { .. } => RemoteError::Unreachable(reason),
            _ => RemoteError::Refused(reason),
        }
    }
}

/// The output of work that may panic: a panic becomes an error, so that nobody waits for the end forever.
pub async fn catch_panic<T>(work: impl Future<Output = T>) -> Result<T, RemoteError> {
    AssertUnwindSafe(work).catch_unwind().await.map_err(|_| RemoteError::Panicked)
}

/// Separates what was requested, and how often, from what the server answered.
const STATUS: &str = "status code: ";

/// True if the server understood and refused: any status of 4xx but those that mean "later".
fn is_final(text: &str) -> bool {
    let Some((_, status)) = text.split_once(STATUS) else {
        return ["no credentials", "Missing", "not configured", "Unable to parse", "Invalid"]
            .iter()
            .any(|word| text.contains(word));
    };
    status.starts_with(['3', '4']) && !["408", "409", "425", "429"].iter().any(|later| status.starts_with(later))
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
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = mask_url_secrets(&code_and_message(&line));
    match line.char_indices().nth(MAX_SHOWN) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.trim_end_matches([' ', ':']).to_owned(),
    }
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

/// Replaces what may be a secret in the URLs of `text` by asterisks.
fn mask_url_secrets(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    // With one slash it is none, and was meant as one.
    while let Some(at) = rest.find(":/") {
        let slashes = rest[at + 1..].len() - rest[at + 1..].trim_start_matches('/').len();
        let (before, after) = rest.split_at(at + 1 + slashes);
        shown.push_str(before);
        let end = after.find(|c: char| c.is_whitespace() || "\"'".contains(c)).unwrap_or(after.len());
        let (url, behind) = after.split_at(end);
        let path = url.find(['?', '#']).unwrap_or(url.len());
        // A password may hold a slash that somebody forgot to escape: up to the last `@`.
        let host = url[..path].rfind('@').unwrap_or(0);
        let cover = |part: &str| "*".repeat(part.len());
        shown.push_str(&cover(&url[..host]));
        shown.push_str(&url[host..path]);
        shown.push_str(&cover(&url[path..]));
        rest = behind;
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::super::backends::{Backend, azure::Azure, classify, gcs::Gcs, s3::S3};
    use super::*;

    fn generic(backend: &dyn Backend, words: &str) -> RemoteError {
        classify(backend, object_store::Error::Generic { store: "", source: words.to_owned().into() })
    }

    #[test]
    fn missing_credentials_come_with_what_to_set() {
        let no = "Error performing PUT http://169.254.169.254/latest/api/token in 1ms - ";
        let refused = format!("{no}Server returned non-2xx status code: 403 Forbidden: no");
        let nobody = format!("{no}HTTP error: error sending request: operation timed out");
        for words in [&refused, &nobody] {
            let advice: [(&dyn Backend, &str); 3] = [
                (&S3, "AWS_ACCESS_KEY_ID"),
                (&Gcs, "application-default login"),
                (&Azure, "AZURE_STORAGE_ACCOUNT_KEY"),
            ];
            for (backend, advice) in advice {
                let error = generic(backend, words);
                assert!(matches!(error, RemoteError::NoCredentials(_)) && !error.is_transient(), "{error:?}");
                assert!(error.to_string().contains(advice), "{}", error.to_string());
            }
        }
        assert!(generic(&Azure, "Account must be specified").to_string().contains("AZURE_STORAGE_ACCOUNT_NAME"));
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
        assert_eq!(RemoteError::from(error), RemoteError::Refused("there is no such bucket".to_owned()));
    }
}
