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

/// The error of an answer that is not the requested range.
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

    /// The error in the status of an answer to a request for a range.
    fn of(status: u16) -> Option<RangeError> {
        match status {
            200 => Some(RangeError::Whole),
            416 => Some(RangeError::Shorter),
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

/// A server that takes bytes more slowly than this counts as unreachable.
pub const MIN_BYTES_PER_SECOND: u64 = 64 << 10;

/// The hosts of a machine's own credentials service. Most machines have none, so that a request to them is not retried.
pub const CREDENTIAL_HOSTS: [&str; 3] = ["169.254.169.254", "169.254.170.2", "metadata.google.internal"];

/// Makes connections whose answers must begin in time.
#[derive(Debug)]
pub struct Connector {
    /// The longest time for which a server may be silent.
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
        let is_range = request.headers().contains_key("range");
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
            match RangeError::of(answer.status().as_u16()).filter(|_| is_range) {
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
