//! Sums that a site publishes beside its files.

use cwm_contract::{Context, Failure};
use cwm_web::ureq::Agent;
use cwm_web::{FetchError, Settings};

use crate::checksum::Checksum;
use crate::config::PublishedSum;
use crate::reply::DownloadReply;
use crate::retry_budget::RetryBudget;
use crate::transfer::{Request, Transfer, TransferEvent};

/// A list is not longer than this; that of Lichess has 100 bytes a month.
const LONGEST: usize = 4 << 20;

/// The sum that is published of a file.
///
/// # Errors
/// The list cannot be had, or does not name the file.
pub fn sum(
    context: &Context,
    agent: &Agent,
    settings: &Settings,
    published: &PublishedSum,
) -> Result<Checksum, Failure> {
    context.activity("asking for the published sums");
    let advice = "give the file's sum as `sha256`, or its URL as `source` to trust what comes";
    let text = get(context, agent, settings, &published.list).map_err(|failure| match failure.hint {
        Some(_) => failure,
        None => failure.hint(advice),
    })?;
    find(&text, &published.name)
        .ok_or_else(|| Failure::input(format!("{} has no sum of {}", published.list, published.name)).hint(advice))
}

/// The sum of the file called `name` in a list as `sha256sum` writes it: the sum, a space, a space or `*`, the name.
fn find(list: &str, name: &str) -> Option<Checksum> {
    list.lines().find_map(|line| {
        let (sum, file) = line.trim().split_once(' ')?;
        let file = file.trim_start().trim_start_matches('*');
        (file == name || file.rsplit('/').next() == Some(name)).then(|| Checksum::parse(sum).ok())?
    })
}

/// A short text, with retries after errors.
fn get(context: &Context, agent: &Agent, settings: &Settings, url: &str) -> Result<String, Failure> {
    let mut budget = RetryBudget::new(context, settings);
    loop {
        match attempt(context, agent, url) {
            Ok(text) => return Ok(text),
            Err(FetchError::Permanent(failure)) => return Err(failure),
            Err(FetchError::Transient(reason, after)) => budget.wait_for_retry(url, &reason, false, after, 0)?,
        }
    }
}

fn attempt(context: &Context, agent: &Agent, url: &str) -> Result<String, FetchError> {
    let transfer = Transfer::start(agent, Request { url: url.to_owned(), range: None, if_range: None });
    let mut text = Vec::new();
    loop {
        match transfer.next(context)? {
            TransferEvent::Response(DownloadReply::Whole { .. }) => {}
            TransferEvent::Response(DownloadReply::Transient { status, after }) => {
                return Err(FetchError::Transient(status, after));
            }
            TransferEvent::Response(DownloadReply::Permanent(why)) => {
                return Err(Failure::input(format!("{url}: {why}")).into());
            }
            TransferEvent::Response(DownloadReply::PartialContent { .. } | DownloadReply::Stale) => {
                return Err(Failure::input(format!("{url}: the server sent a range that was not requested")).into());
            }
            TransferEvent::Chunk(piece) => {
                text.extend(piece);
                if text.len() > LONGEST {
                    return Err(
                        Failure::input(format!("{url}: a list of sums is not longer than {LONGEST} bytes")).into()
                    );
                }
            }
            TransferEvent::End => return Ok(String::from_utf8_lossy(&text).into_owned()),
            TransferEvent::Failed(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_found_by_the_whole_name() {
        let (a, b) = ("a".repeat(64), "b".repeat(64));
        let list = format!("{a}  x_2025-03.pgn.zst\r\n{b} *dir/x_2025-04.pgn.zst\nnonsense\n");
        assert_eq!(find(&list, "x_2025-03.pgn.zst").unwrap().to_string(), a);
        assert_eq!(find(&list, "x_2025-04.pgn.zst").unwrap().to_string(), b);
        assert_eq!(find(&list, "2025-03.pgn.zst"), None);
        assert_eq!(find(&list.replace(&a, "a"), "x_2025-03.pgn.zst"), None);
    }
}
