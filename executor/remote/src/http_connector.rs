//! The HTTP connections of `object_store`: each attempt has a time limit, and an answer that is not the range that was requested
//! is a typed error. `object_store` has only text for either.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};

/// Requests to one remote at a time.
pub const MAX_REQUESTS: usize = 32;

/// What came in place of the requested range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeError {
    /// The whole file: the server does not support ranges.
    Whole,
    /// Less: the file ends there.
    Shorter,
}

impl RangeError {
    /// The range error that caused this error, if one did.
    pub fn source_of(error: &object_store::Error) -> Option<RangeError> {
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
        while let Some(error) = cause {
            if let Some(found) = error.downcast_ref::<RangeError>() {
                return Some(*found);
            }
            cause = error.source();
        }
        None
    }

    /// Checks an answer; `requested` is the request's `Range`, `sent` the answer's `Content-Range`.
    fn of(requested: &str, status: u16, sent: Option<&str>) -> Option<RangeError> {
        match status {
            200 => Some(RangeError::Whole),
            416 => Some(RangeError::Shorter),
            206 => {
                let (from, to) = ends(requested.strip_prefix("bytes=")?)?;
                let (sent_from, sent_to) = ends(sent?.trim().strip_prefix("bytes ")?.split('/').next()?)?;
                (sent_from == from && sent_to < to).then_some(RangeError::Shorter)
            }
            _ => None,
        }
    }
}

impl fmt::Display for RangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RangeError::Whole => "the server sends files only as a whole",
            RangeError::Shorter => "is shorter than it should be",
        })
    }
}

impl std::error::Error for RangeError {}

/// The first and the last byte of `0-4095`.
fn ends(range: &str) -> Option<(u64, u64)> {
    let (from, to) = range.split_once('-')?;
    Some((from.parse().ok()?, to.parse().ok()?))
}

/// A server that takes bytes more slowly than this counts as unreachable.
pub const MIN_BYTES_PER_SECOND: u64 = 64 << 10;

/// The hosts of a machine's own credentials service. Most machines have none, so that a request to them is not retried.
pub const CREDENTIAL_HOSTS: [&str; 3] = ["169.254.169.254", "169.254.170.2", "metadata.google.internal"];

/// Makes connections whose answers must begin in time.
#[derive(Debug)]
pub struct Connector {
    /// How long a server may be silent.
    pub idle_timeout: Duration,
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let (client, idle_timeout) = (ReqwestConnector::default().connect(options)?, self.idle_timeout);
        Ok(HttpClient::new(CheckedClient { client, idle_timeout }))
    }
}

#[derive(Debug)]
struct CheckedClient {
    client: HttpClient,
    idle_timeout: Duration,
}

impl HttpService for CheckedClient {
    fn call<'service, 'call>(
        &'service self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'call>>
    where
        'service: 'call,
        Self: 'call,
    {
        let requested = request.headers().get("range").and_then(|requested| requested.to_str().ok()).map(str::to_owned);
        let sends = request.body().content_length() as u64;
        // A server that puts the parts of an upload together answers late.
        let patience = if request.method() == "POST" { 10 } else { 1 };
        let limit = self.idle_timeout * patience + Duration::from_secs(sends / MIN_BYTES_PER_SECOND);
        let is_for_credentials = request.uri().host().is_some_and(|host| CREDENTIAL_HOSTS.contains(&host));
        Box::pin(async move {
            let answer = match tokio::time::timeout(limit, self.client.execute(request)).await {
                // Any other kind is retried.
                Ok(Err(error)) if is_for_credentials => return Err(HttpError::new(HttpErrorKind::Unknown, error)),
                Ok(answer) => answer?,
                Err(_) => return Err(HttpError::new(HttpErrorKind::Timeout, NoAnswer(limit))),
            };
            let sent = answer.headers().get("content-range").and_then(|sent| sent.to_str().ok());
            match requested.and_then(|requested| RangeError::of(&requested, answer.status().as_u16(), sent)) {
                Some(error) => Err(HttpError::new(HttpErrorKind::Unknown, error)),
                None => Ok(answer),
            }
        })
    }
}

/// A server that did not answer for so long.
#[derive(Debug)]
struct NoAnswer(Duration);

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no answer within {} s", self.0.as_secs_f64())
    }
}

impl std::error::Error for NoAnswer {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_checked_by_its_status_and_its_range() {
        let of = |status, sent| RangeError::of("bytes=100-199", status, sent);
        assert_eq!(of(206, Some("bytes 100-199/1000")), None);
        assert_eq!(of(206, Some("bytes 100-149/150")), Some(RangeError::Shorter));
        assert_eq!(of(416, Some("bytes */50")), Some(RangeError::Shorter));
        assert_eq!(of(200, None), Some(RangeError::Whole));
        // What is wrong in other ways, `object_store` refuses.
        for sent in [None, Some("bytes 0-99/1000"), Some("bytes"), Some("lines 100-149/150")] {
            assert_eq!(of(206, sent), None);
        }
        assert_eq!(of(404, None), None);
        assert_eq!(of(503, None), None);
    }
}
