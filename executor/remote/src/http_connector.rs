//! The HTTP connections of `object_store`, so that it retries what it would not: a server that does not answer in time, and short
//! answers that break off.

use std::io;
use std::pin::Pin;
use std::time::Duration;

use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};
use tokio::time::timeout;

/// Requests to one remote at a time.
pub const MAX_REQUESTS: usize = 32;

/// A server that takes bytes more slowly than this counts as unreachable.
const MIN_BYTES_PER_SECOND: u64 = 64 << 10;

/// Answers up to this length are read at once; a longer one is the content of an object.
const MAX_RESPONSE_BYTES: u64 = 1 << 20;

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
        Ok(HttpClient::new(LimitedClient { client, idle_timeout }))
    }
}

#[derive(Debug)]
struct LimitedClient {
    client: HttpClient,
    idle_timeout: Duration,
}

impl LimitedClient {
    /// Makes a request and reads a short answer. The receiver of the content of an object reads that.
    async fn response(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let is_list = request.uri().query().is_some_and(|query| query.contains("prefix="));
        let is_get = request.method() == "GET";
        let answer = self.client.execute(request).await?;
        let length =
            answer.headers().get("content-length").and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if is_get && !is_list && length.is_none_or(|length| length > MAX_RESPONSE_BYTES) {
            return Ok(answer);
        }
        let (head, body) = answer.into_parts();
        let body = body.bytes().await.map_err(|error| HttpError::new(HttpErrorKind::Interrupted, error))?;
        Ok(HttpResponse::from_parts(head, body.into()))
    }
}

impl HttpService for LimitedClient {
    fn call<'service, 'call>(
        &'service self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'call>>
    where
        'service: 'call,
        Self: 'call,
    {
        let sends = request.body().content_length() as u64;
        // A server that puts the parts of an upload together answers late.
        let idle_periods = if request.method() == "POST" { 10 } else { 1 };
        let limit = self.idle_timeout * idle_periods + Duration::from_secs(sends / MIN_BYTES_PER_SECOND);
        let is_for_credentials = request.uri().host().is_some_and(|host| CREDENTIAL_HOSTS.contains(&host));
        Box::pin(async move {
            match timeout(limit, self.response(request)).await {
                // Any other kind is retried.
                Ok(Err(error)) if is_for_credentials => Err(HttpError::new(HttpErrorKind::Unknown, error)),
                Ok(answer) => answer,
                Err(_) => Err(HttpError::new(HttpErrorKind::Timeout, no_response(limit))),
            }
        })
    }
}

/// Returns the error of a server that did not answer for so long.
pub fn no_response(limit: Duration) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("no answer within {} s", limit.as_secs_f64()))
}
