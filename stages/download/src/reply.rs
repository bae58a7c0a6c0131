//! Classifies the head of a server's response.

use std::time::Duration;

use cwm_web::retry_after;
use cwm_web::ureq::Body;
use cwm_web::ureq::http::{HeaderMap, Response};

/// The meaning of a response for the download.
#[derive(Debug, PartialEq, Eq)]
pub enum DownloadReply {
    /// The body is the file from its beginning.
    Whole {
        /// The validator of these bytes: a strong `ETag`, or where there is none at all a `Last-Modified` that is as
        /// strong.
        validator: Option<String>,
        /// The end of the body.
        end: BodyEnd,
    },
    /// The body is the file from byte `start` on.
    PartialContent {
        /// Number of the body's first byte.
        start: u64,
        /// Number of its last byte.
        last: u64,
        /// Length of the whole file, if known.
        total: Option<u64>,
        /// The validator, as in [`DownloadReply::Whole`].
        validator: Option<String>,
        /// The validator, however weak its date is: enough to see that it is another file.
        name: Option<String>,
        /// The end of the body.
        end: BodyEnd,
    },
    /// The bytes that have arrived cannot be continued: begin anew.
    Stale,
    /// Try again later.
    Transient {
        /// Status code and its meaning.
        status: String,
        /// The time to wait that the server requires.
        after: Option<Duration>,
    },
    /// There is no use in trying again.
    Permanent(String),
}

/// The sign by which a body is known to be whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyEnd {
    /// A number of bytes.
    Length(u64),
    /// The last chunk of the transfer coding.
    Chunks,
    /// The connection closes: nothing distinguishes the end from a cut.
    Close,
}

/// Reads the head of an answer.
pub fn read(response: &Response<Body>) -> DownloadReply {
    let headers = response.headers();
    let status = response.status();
    match status.as_u16() {
        200 | 206
            if text(headers, "content-encoding").is_some_and(|coding| !coding.eq_ignore_ascii_case("identity")) =>
        {
            DownloadReply::Permanent("the server changes the bytes on the way (Content-Encoding)".into())
        }
        200 => DownloadReply::Whole { validator: validator(headers), end: end(headers) },
        206 => match text(headers, "content-range").and_then(range) {
            Some((start, last, total)) => {
                let (validator, name, end) = (validator(headers), name(headers), end(headers));
                DownloadReply::PartialContent { start, last, total, validator, name, end }
            }
            None => DownloadReply::Stale,
        },
        416 => DownloadReply::Stale,
        408 | 425 | 429 | 500..=599 => {
            DownloadReply::Transient { status: format!("the server answers {status}"), after: retry_after(headers) }
        }
        _ => DownloadReply::Permanent(format!("the server answers {status}")),
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Returns a validator that may be sent as `If-Range` (RFC 9110 §13.1.5).
fn validator(headers: &HeaderMap) -> Option<String> {
    match text(headers, "etag") {
        Some(tag) => (!tag.starts_with("W/")).then(|| tag.to_owned()),
        None => text(headers, "last-modified").filter(|date| is_strong(date, headers)).map(str::to_owned),
    }
}

/// Returns true if a `Last-Modified` names these bytes and no others (RFC 9110 §8.8.2.2): it lies a minute or more
/// before the answer's `Date`. A file may change twice within one second, and two clocks may differ.
fn is_strong(modified: &str, headers: &HeaderMap) -> bool {
    let time = |date: &str| jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(date.trim()).ok();
    match (time(modified), text(headers, "date").and_then(time)) {
        (Some(modified), Some(date)) => date.as_second() - modified.as_second() >= 60,
        _ => false,
    }
}

fn name(headers: &HeaderMap) -> Option<String> {
    let strong = text(headers, "etag").filter(|tag| !tag.starts_with("W/"));
    strong.or(text(headers, "last-modified")).map(str::to_owned)
}

fn end(headers: &HeaderMap) -> BodyEnd {
    let chunked =
        text(headers, "transfer-encoding").is_some_and(|coding| coding.to_ascii_lowercase().contains("chunked"));
    match text(headers, "content-length").and_then(|length| length.trim().parse().ok()) {
        _ if chunked => BodyEnd::Chunks,
        Some(length) => BodyEnd::Length(length),
        None => BodyEnd::Close,
    }
}

/// `bytes 5-9/10` or `bytes 5-9/*`: the first byte, the last one, and the length of the whole.
fn range(value: &str) -> Option<(u64, u64, Option<u64>)> {
    let (span, total) = value.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = span.split_once('-')?;
    let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    let total = match total.trim() {
        "*" => None,
        length => Some(length.parse().ok()?),
    };
    // A file has a byte after its last one, even if only in numbers.
    (first <= last && total.map_or(last < u64::MAX, |total| last < total)).then_some((first, last, total))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(status: u16, headers: &[(&str, &str)], expected: DownloadReply) {
        let mut response = Response::builder().status(status);
        for (name, value) in headers {
            response = response.header(*name, *value);
        }
        assert_eq!(read(&response.body(Body::builder().data("")).unwrap()), expected, "{status} {headers:?}");
    }

    #[test]
    fn a_whole_file_is_known_by_its_strong_tag_or_its_date() {
        let whole =
            |validator: Option<&str>, end| DownloadReply::Whole { validator: validator.map(str::to_owned), end };
        check(200, &[("ETag", "\"a\""), ("Content-Length", "5")], whole(Some("\"a\""), BodyEnd::Length(5)));
        let modified = ("Last-Modified", "Tue, 01 Apr 2025 00:00:00 GMT");
        let later = ("Date", "Tue, 01 Apr 2025 00:01:00 GMT");
        check(200, &[modified, later], whole(Some(modified.1), BodyEnd::Close));
        // A date does not help if there is a tag that is marked as weak.
        check(200, &[("ETag", "W/\"a\""), modified, later], whole(None, BodyEnd::Close));
        check(200, &[("Transfer-Encoding", "chunked"), ("Content-Length", "5")], whole(None, BodyEnd::Chunks));
    }

    #[test]
    fn a_date_names_a_file_only_a_minute_later() {
        let modified = ("Last-Modified", "Tue, 01 Apr 2025 00:00:00 GMT");
        let none = || DownloadReply::Whole { validator: None, end: BodyEnd::Close };
        check(200, &[modified], none());
        for date in ["Tue, 01 Apr 2025 00:00:59 GMT", "Mon, 31 Mar 2025 00:00:00 GMT", "yesterday"] {
            check(200, &[modified, ("Date", date)], none());
        }
        check(200, &[("Last-Modified", "long ago"), ("Date", modified.1)], none());
        // Weak or not, it identifies another file.
        let part = ("Content-Range", "bytes 5-9/10");
        let name = Some(modified.1.to_owned());
        let rest = DownloadReply::PartialContent {
            start: 5,
            last: 9,
            total: Some(10),
            validator: None,
            name,
            end: BodyEnd::Close,
        };
        check(206, &[modified, part], rest);
    }

    #[test]
    fn a_part_says_where_it_begins() {
        let rest =
            |total, end| DownloadReply::PartialContent { start: 5, last: 9, total, validator: None, name: None, end };
        check(206, &[("Content-Range", "bytes 5-9/10")], rest(Some(10), BodyEnd::Close));
        check(206, &[("Content-Range", "bytes 5-9/*"), ("Content-Length", "5")], rest(None, BodyEnd::Length(5)));
        for nonsense in [
            "bytes 5-9",
            "bytes 9-5/10",
            "bytes 5-10/10",
            "bytes */10",
            "5-9/10",
            "bytes 5-9/99999999999999999999",
            "bytes 0-18446744073709551615/*",
        ] {
            check(206, &[("Content-Range", nonsense)], DownloadReply::Stale);
        }
        check(206, &[], DownloadReply::Stale);
        check(416, &[], DownloadReply::Stale);
    }

    #[test]
    fn some_statuses_pass_and_some_do_not() {
        let later = |status: &str, after: Option<u64>| DownloadReply::Transient {
            status: format!("the server answers {status}"),
            after: after.map(Duration::from_secs),
        };
        check(503, &[("Retry-After", "7")], later("503 Service Unavailable", Some(7)));
        check(429, &[("Retry-After", "Tue, 01 Apr 2025 00:00:00 GMT")], later("429 Too Many Requests", None));
        check(404, &[], DownloadReply::Permanent("the server answers 404 Not Found".into()));
        let changed = "the server changes the bytes on the way (Content-Encoding)";
        check(200, &[("Content-Encoding", "gzip")], DownloadReply::Permanent(changed.into()));
    }

    proptest! {
        #[test]
        fn no_content_range_is_misread(text in "(bytes )?[0-9*/ -]{0,24}") {
            if let Some((first, last, Some(total))) = range(&text) {
                prop_assert!(first <= last && last < total);
            }
        }
    }
}
