//! Errors of requests: transient and permanent ones.

use std::time::Duration;

use cwm_contract::Failure;
use ureq::http::HeaderMap;

/// An error that ended an attempt.
#[derive(Debug)]
pub enum FetchError {
    /// A retry may succeed, not before the server's own time if it sent one.
    Transient(String, Option<Duration>),
    /// No retry can succeed.
    Permanent(Failure),
}

impl From<Failure> for FetchError {
    fn from(failure: Failure) -> Self {
        FetchError::Permanent(failure)
    }
}

/// Classifies an error: transient if a retry may succeed.
pub fn classify(url: &str, error: ureq::Error) -> FetchError {
    let message = format!("{url}: {error}");
    match error {
        ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::TooManyRedirects => {
            Failure::input(message).hint("look whether the URL is right").into()
        }
        ureq::Error::Tls(_) | ureq::Error::Pem(_) | ureq::Error::Rustls(_) => certificate(message),
        // So rustls hands on what it thinks of a certificate.
        ureq::Error::Io(ref inner) if inner.kind() == std::io::ErrorKind::InvalidData => certificate(message),
        other => FetchError::Transient(other.to_string(), None),
    }
}

fn certificate(message: String) -> FetchError {
    Failure::system(message)
        .hint("if a proxy here signs with a certificate of its own, name its file in SSL_CERT_FILE")
        .into()
}

/// The time after which the server wants the next attempt, if it names one in seconds.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get("retry-after")?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}
