//! Answers that are not the bytes which were asked for, known by their status and head: servers that know no ranges send the
//! whole, and files that are shorter than they should be end too early. `object_store` has only words for either.

use std::fmt;
use std::pin::Pin;

use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};

/// What came in place of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotTheRange {
    /// All of it: the server knows no ranges.
    Whole,
    /// Less: there is no more.
    Shorter,
}

impl NotTheRange {
    /// What is behind an error of a request, if it is that.
    pub fn behind(error: &object_store::Error) -> Option<NotTheRange> {
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
        while let Some(error) = cause {
            if let Some(found) = error.downcast_ref::<NotTheRange>() {
                return Some(*found);
            }
            cause = error.source();
        }
        None
    }

    /// What an answer is, where `asked` is the request's `Range` and `sent` the answer's `Content-Range`.
    fn of(asked: &str, status: u16, sent: Option<&str>) -> Option<NotTheRange> {
        match status {
            200 => Some(NotTheRange::Whole),
            416 => Some(NotTheRange::Shorter),
            206 => {
                let (from, to) = ends(asked.strip_prefix("bytes=")?)?;
                let (sent_from, sent_to) = ends(sent?.trim().strip_prefix("bytes ")?.split('/').next()?)?;
                (sent_from == from && sent_to < to).then_some(NotTheRange::Shorter)
            }
            _ => None,
        }
    }
}

impl fmt::Display for NotTheRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotTheRange::Whole => "the server sends files only as a whole",
            NotTheRange::Shorter => "is shorter than it should be",
        })
    }
}

impl std::error::Error for NotTheRange {}

/// The first and the last byte of `0-4095`.
fn ends(range: &str) -> Option<(u64, u64)> {
    let (from, to) = range.split_once('-')?;
    Some((from.parse().ok()?, to.parse().ok()?))
}

/// Connections whose answers are looked at.
#[derive(Debug)]
pub struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Watched(ReqwestConnector::default().connect(options)?)))
    }
}

#[derive(Debug)]
struct Watched(HttpClient);

impl HttpService for Watched {
    fn call<'service, 'call>(
        &'service self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'call>>
    where
        'service: 'call,
        Self: 'call,
    {
        let asked = request.headers().get("range").and_then(|asked| asked.to_str().ok()).map(str::to_owned);
        Box::pin(async move {
            let answer = self.0.execute(request).await?;
            let sent = answer.headers().get("content-range").and_then(|sent| sent.to_str().ok());
            match asked.and_then(|asked| NotTheRange::of(&asked, answer.status().as_u16(), sent)) {
                Some(what) => Err(HttpError::new(HttpErrorKind::Unknown, what)),
                None => Ok(answer),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_judged_by_its_status_and_what_it_says_it_holds() {
        let of = |status, sent| NotTheRange::of("bytes=100-199", status, sent);
        assert_eq!(of(206, Some("bytes 100-199/1000")), None);
        assert_eq!(of(206, Some("bytes 100-149/150")), Some(NotTheRange::Shorter));
        assert_eq!(of(416, Some("bytes */50")), Some(NotTheRange::Shorter));
        assert_eq!(of(200, None), Some(NotTheRange::Whole));
        // What is wrong in other ways, `object_store` refuses.
        for sent in [None, Some("bytes 0-99/1000"), Some("bytes"), Some("lines 100-149/150")] {
            assert_eq!(of(206, sent), None);
        }
        assert_eq!(of(404, None), None);
        assert_eq!(of(503, None), None);
    }
}
