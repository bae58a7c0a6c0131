//! Fetching from a URL: tries again after any trouble, from where it was, until nothing new comes.

use cwm_contract::{Context, Failure, Fetch};
use ureq::Agent;

use crate::checksum::Checksum;
use crate::expectation::Expectation;
use crate::partial::Partial;
use crate::patience::Patience;
use crate::reply::{End, Reply};
use crate::run::Place;
use crate::settings::Settings;
use crate::transfer::{Heard, Request, Transfer, Trouble};

/// Fetches to its place; the sum and the number of bytes.
///
/// # Errors
/// The server refuses, nothing new came in [`Settings::tries`] tries, the sum is not the expected one, the disk
/// refuses, or the stage was asked to stop. What has arrived is kept, but for bytes with the wrong sum.
pub fn fetch(
    context: &Context,
    agent: &Agent,
    fetch: &Fetch,
    expected: Option<&Expectation>,
    settings: &Settings,
    place: &Place,
) -> Result<(Checksum, u64), Failure> {
    let mut partial = Partial::open(context, place, fetch, expected.is_some(), settings.checkpoint)?;
    let mut begun_anew = false;
    loop {
        complete(context, agent, fetch, expected.is_some(), settings, &mut partial)?;
        let (actual, length) = (partial.checksum(), partial.length());
        let Some(wrong) = expected.and_then(|expected| expected.check(&fetch.to_string(), actual, length).err()) else {
            partial.finish()?;
            return Ok((actual, length));
        };
        let in_pieces = partial.is_in_pieces();
        partial.forget()?;
        if !in_pieces || begun_anew {
            return Err(wrong);
        }
        // The server may have changed the file between two pieces without saying so.
        context.note(format!("{}; it came in pieces, so it is fetched once more from the beginning", wrong.message));
        begun_anew = true;
    }
}

/// Goes on until every byte has arrived.
fn complete(
    context: &Context,
    agent: &Agent,
    fetch: &Fetch,
    is_summed: bool,
    settings: &Settings,
    partial: &mut Partial,
) -> Result<(), Failure> {
    let mut patience = Patience::new(context, settings);
    let mut furthest = partial.length();
    let mut ask_for_part = true;
    while !partial.is_complete() {
        context.check_cancelled()?;
        let try_ = Try { context, agent, fetch, is_summed, ask_for_part };
        let trouble = match try_.run(partial) {
            Ok(()) => None,
            Err(Trouble::Lasting(failure)) => {
                // What has arrived is a help next time, and the failure is what matters now.
                let _ = partial.save();
                return Err(failure);
            }
            Err(Trouble::Passing(reason, after)) => Some((reason, after)),
        };
        partial.save()?;
        let brought = partial.length() > furthest;
        furthest = furthest.max(partial.length());
        // An empty file has no part that could be asked for.
        ask_for_part &= brought || partial.length() > 0;
        match trouble {
            Some((reason, after)) => patience.again(&fetch.url, &reason, brought, after, partial.length())?,
            None if !brought && !partial.is_complete() => {
                patience.again(&fetch.url, "nothing new came", false, None, partial.length())?;
            }
            None => {}
        }
    }
    Ok(())
}

/// One request, and its body as far as it comes.
struct Try<'a> {
    context: &'a Context,
    agent: &'a Agent,
    fetch: &'a Fetch,
    /// Whether the sum of the whole is known, which protects what the server gives no name.
    is_summed: bool,
    ask_for_part: bool,
}

impl Try<'_> {
    fn run(&self, partial: &mut Partial) -> Result<(), Trouble> {
        let first_bytes = self.fetch.first_bytes;
        let goes_on = partial.length() > 0 && (partial.validator().is_some() || self.is_summed);
        let start = if goes_on { partial.length() } else { 0 };
        let last = first_bytes.map(|bytes| bytes - 1);
        let range = (goes_on || (last.is_some() && self.ask_for_part)).then_some((start, last));
        self.context.doing(if goes_on { "asking for the rest" } else { "asking for the file" });
        let if_range = partial.validator().filter(|_| goes_on).map(str::to_owned);
        let transfer = Transfer::start(self.agent, Request { url: self.fetch.url.clone(), range, if_range });
        let reply = match transfer.next(self.context)? {
            Heard::Head(reply) => reply,
            Heard::Trouble(trouble) => return Err(trouble),
            Heard::Piece(_) | Heard::End => return Err(Failure::internal("a body came before its head").into()),
        };
        let (until, end) = self.accept(reply, range, partial)?;
        loop {
            match transfer.next(self.context)? {
                Heard::Piece(piece) => {
                    partial.append(&piece)?;
                    self.context.progress(partial.length(), partial.goal(), "bytes");
                    if first_bytes == Some(partial.length()) {
                        return Ok(());
                    }
                }
                Heard::End => break,
                Heard::Trouble(trouble) => return Err(trouble),
                Heard::Head(_) => return Err(Failure::internal("a second head came").into()),
            }
        }
        self.ended(until, end, partial)
    }

    /// Takes the head of an answer: where in the file its body ends, if that is told, and how one knows.
    fn accept(
        &self,
        reply: Reply,
        range: Option<(u64, Option<u64>)>,
        partial: &mut Partial,
    ) -> Result<(Option<u64>, End), Trouble> {
        match reply {
            Reply::Whole { validator, end } => {
                let total = if let End::Length(total) = end { Some(total) } else { None };
                partial.begin(validator, total)?;
                if end == End::Close && !self.is_summed && self.fetch.first_bytes.is_none() {
                    return Err(self.no_length().into());
                }
                Ok((total, end))
            }
            Reply::Rest { start, last, total, validator, name, end }
                if range.is_some_and(|range| fits(partial, range, (start, last), total, name.as_deref())) =>
            {
                if matches!(end, End::Length(length) if length != last - start + 1) {
                    return Err(self.nonsense(partial)?);
                }
                if start == 0 {
                    partial.begin(validator, total)?
                } else {
                    partial.go_on(total)
                }
                Ok((Some(last + 1), end))
            }
            Reply::Rest { .. } | Reply::Outdated => Err(self.nonsense(partial)?),
            Reply::Later { status, after } => Err(Trouble::Passing(status, after)),
            Reply::Refused(why) => {
                let failure = Failure::input(format!("{}: {why}", self.fetch.url));
                Err(failure.hint("look whether the URL is right").into())
            }
        }
    }

    fn nonsense(&self, partial: &mut Partial) -> Result<Trouble, Failure> {
        partial.forget()?;
        Ok(Trouble::Passing("the server cannot go on where the download was".into(), None))
    }

    fn no_length(&self) -> Failure {
        let url = &self.fetch.url;
        Failure::input(format!("{url}: the server does not say how long the file is, so a cut would go unnoticed"))
            .hint("give the file's sum as `sha256`")
    }

    /// After the body: whether it is what the head promised.
    fn ended(&self, until: Option<u64>, end: End, partial: &mut Partial) -> Result<(), Trouble> {
        match (until, end) {
            (Some(until), _) if partial.length() < until => {
                Err(Trouble::Passing(format!("the server ended early, before byte {until}"), None))
            }
            (Some(until), _) if partial.length() > until => {
                partial.forget()?;
                Err(Trouble::Passing(format!("the server sent more than the {until} bytes that it promised"), None))
            }
            (Some(_), _) => Ok(()),
            (None, End::Close) if !self.is_summed => Err(self.no_length().into()),
            (None, _) => {
                partial.expect(partial.length());
                Ok(())
            }
        }
    }
}

/// Whether a part is what was asked for, of the file whose beginning has arrived.
fn fits(
    partial: &Partial,
    (wanted, wanted_last): (u64, Option<u64>),
    (start, last): (u64, u64),
    total: Option<u64>,
    name: Option<&str>,
) -> bool {
    let same_length = start == 0 || partial.total().is_none() || total.is_none() || partial.total() == total;
    let same_name = start == 0 || partial.validator().is_none() || name.is_none() || partial.validator() == name;
    start == wanted && wanted_last.is_none_or(|wanted| last <= wanted) && same_length && same_name
}
