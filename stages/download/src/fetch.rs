//! Fetching from a URL: retries after each error from the byte it had reached, until no more bytes come.

use cwm_contract::{Context, Failure, FetchRequest};
use cwm_web::ureq::Agent;
use cwm_web::{FetchError, Settings};

use crate::checksum::Checksum;
use crate::expectation::Expectation;
use crate::partial::PartialFile;
use crate::reply::{BodyEnd, DownloadReply};
use crate::retry_budget::RetryBudget;
use crate::run::DownloadPaths;
use crate::transfer::{Request, Transfer, TransferEvent};

/// Fetches a file to `place`. Returns its sum and its number of bytes.
///
/// # Errors
/// The server refuses, nothing new came in [`Settings::tries`] tries, the sum is not the expected one, an operation on
/// the disk fails, or the stage was cancelled. What has arrived is kept, but for bytes with the wrong sum.
pub fn fetch(
    context: &Context,
    agent: &Agent,
    fetch: &FetchRequest,
    expected: Option<&Expectation>,
    settings: &Settings,
    checkpoint: u64,
    place: &DownloadPaths,
) -> Result<(Checksum, u64), Failure> {
    let mut partial = PartialFile::open(context, place, fetch, expected.is_some(), checkpoint)?;
    let mut has_restarted = false;
    loop {
        complete(context, agent, fetch, expected.is_some(), settings, &mut partial)?;
        let (actual, length) = (partial.checksum(), partial.length());
        let Some(wrong) = expected.and_then(|expected| expected.check(&fetch.to_string(), actual, length).err()) else {
            partial.finish()?;
            return Ok((actual, length));
        };
        let in_pieces = partial.is_in_pieces();
        partial.reset()?;
        if !in_pieces || has_restarted {
            return Err(wrong);
        }
        // The server may have changed the file between two pieces without a sign of it.
        context.note(format!("{}; it came in pieces, so it is fetched once more from the beginning", wrong.message));
        has_restarted = true;
    }
}

/// Repeats attempts until every byte has arrived.
fn complete(
    context: &Context,
    agent: &Agent,
    fetch: &FetchRequest,
    is_summed: bool,
    settings: &Settings,
    partial: &mut PartialFile,
) -> Result<(), Failure> {
    let mut budget = RetryBudget::new(context, settings);
    let mut furthest = partial.length();
    let mut use_range = true;
    while !partial.is_complete() {
        context.check_cancelled()?;
        let attempt = Attempt { context, agent, fetch, is_summed, use_range };
        let error = match attempt.run(partial) {
            Ok(()) => None,
            Err(FetchError::Permanent(failure)) => {
                // What has arrived is a help next time, and the failure is what matters now.
                let _ = partial.save();
                return Err(failure);
            }
            Err(FetchError::Transient(reason, after)) => Some((reason, after)),
        };
        partial.save()?;
        let progressed = partial.length() > furthest;
        furthest = furthest.max(partial.length());
        // An empty file has no part that could be requested.
        use_range &= progressed || partial.length() > 0;
        match error {
            Some((reason, after)) => budget.wait_for_retry(&fetch.url, &reason, progressed, after, partial.length())?,
            None if !progressed && !partial.is_complete() => {
                budget.wait_for_retry(&fetch.url, "nothing new came", false, None, partial.length())?;
            }
            None => {}
        }
    }
    Ok(())
}

/// One request, and its body as far as it comes.
struct Attempt<'a> {
    context: &'a Context,
    agent: &'a Agent,
    fetch: &'a FetchRequest,
    /// True if the sum of the whole is known, so that bytes without a validator can be checked.
    is_summed: bool,
    /// True if the request has a range, though nothing has arrived yet.
    use_range: bool,
}

impl Attempt<'_> {
    fn run(&self, partial: &mut PartialFile) -> Result<(), FetchError> {
        let first_bytes = self.fetch.first_bytes;
        let is_resumed = partial.length() > 0 && (partial.validator().is_some() || self.is_summed);
        let start = if is_resumed { partial.length() } else { 0 };
        let last = first_bytes.map(|bytes| bytes - 1);
        let range = (is_resumed || (last.is_some() && self.use_range)).then_some((start, last));
        self.context.activity(if is_resumed { "asking for the rest" } else { "asking for the file" });
        let if_range = partial.validator().filter(|_| is_resumed).map(str::to_owned);
        let transfer = Transfer::start(self.agent, Request { url: self.fetch.url.clone(), range, if_range });
        let reply = match transfer.next(self.context)? {
            TransferEvent::Response(reply) => reply,
            TransferEvent::Failed(error) => return Err(error),
            TransferEvent::Chunk(_) | TransferEvent::End => {
                return Err(Failure::internal("a body came before its head").into());
            }
        };
        let (until, end) = self.accept(reply, range, partial)?;
        loop {
            match transfer.next(self.context)? {
                TransferEvent::Chunk(piece) => {
                    partial.append(&piece)?;
                    self.context.progress(partial.length(), partial.expected_length(), "bytes");
                    if first_bytes == Some(partial.length()) {
                        return Ok(());
                    }
                }
                TransferEvent::End => break,
                TransferEvent::Failed(error) => return Err(error),
                TransferEvent::Response(_) => return Err(Failure::internal("a second head came").into()),
            }
        }
        self.check_end(until, end, partial)
    }

    /// Takes the head of an answer. Returns the byte of the file at which its body ends, if that is known, and the sign of
    /// the end.
    fn accept(
        &self,
        reply: DownloadReply,
        range: Option<(u64, Option<u64>)>,
        partial: &mut PartialFile,
    ) -> Result<(Option<u64>, BodyEnd), FetchError> {
        match reply {
            DownloadReply::Whole { validator, end } => {
                let total = if let BodyEnd::Length(total) = end { Some(total) } else { None };
                partial.begin(validator, total)?;
                if end == BodyEnd::Close && !self.is_summed && self.fetch.first_bytes.is_none() {
                    return Err(self.no_length().into());
                }
                Ok((total, end))
            }
            DownloadReply::PartialContent { start, last, total, validator, name, end }
                if range.is_some_and(|range| fits(partial, range, (start, last), total, name.as_deref())) =>
            {
                if matches!(end, BodyEnd::Length(length) if length != last - start + 1) {
                    return Err(self.restart_after_bad_reply(partial)?);
                }
                if start == 0 {
                    partial.begin(validator, total)?
                } else {
                    partial.resume(total)
                }
                Ok((Some(last + 1), end))
            }
            DownloadReply::PartialContent { .. } | DownloadReply::Stale => Err(self.restart_after_bad_reply(partial)?),
            DownloadReply::Transient { status, after } => Err(FetchError::Transient(status, after)),
            DownloadReply::Permanent(why) => {
                let failure = Failure::input(format!("{}: {why}", self.fetch.url));
                Err(failure.hint("look whether the URL is right").into())
            }
        }
    }

    fn restart_after_bad_reply(&self, partial: &mut PartialFile) -> Result<FetchError, Failure> {
        partial.reset()?;
        Ok(FetchError::Transient("the server cannot go on where the download was".into(), None))
    }

    fn no_length(&self) -> Failure {
        let url = &self.fetch.url;
        Failure::input(format!(
            "{url}: the server gives no length of the file, so a truncated download would go unnoticed"
        ))
        .hint("give the file's sum as `sha256`")
    }

    /// Checks after the body that it is what the head promised.
    fn check_end(&self, until: Option<u64>, end: BodyEnd, partial: &mut PartialFile) -> Result<(), FetchError> {
        match (until, end) {
            (Some(until), _) if partial.length() < until => {
                Err(FetchError::Transient(format!("the server ended early, before byte {until}"), None))
            }
            (Some(until), _) if partial.length() > until => {
                partial.reset()?;
                Err(FetchError::Transient(format!("the server sent more than the announced {until} bytes"), None))
            }
            (Some(_), _) => Ok(()),
            (None, BodyEnd::Close) if !self.is_summed => Err(self.no_length().into()),
            (None, _) => {
                partial.set_total(partial.length());
                Ok(())
            }
        }
    }
}

/// Returns true if a part is what was requested, of the file whose beginning has arrived.
fn fits(
    partial: &PartialFile,
    (wanted, wanted_last): (u64, Option<u64>),
    (start, last): (u64, u64),
    total: Option<u64>,
    name: Option<&str>,
) -> bool {
    let same_length = start == 0 || partial.total().is_none() || total.is_none() || partial.total() == total;
    let same_name = start == 0 || partial.validator().is_none() || name.is_none() || partial.validator() == name;
    start == wanted && wanted_last.is_none_or(|wanted| last <= wanted) && same_length && same_name
}
