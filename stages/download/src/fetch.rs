//! Fetching from a URL: tries again after any trouble, from where it was, until nothing new comes.

use std::io::Read;
use std::time::{Duration, Instant};

use cwm_contract::{Context, Failure};
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

use crate::checksum::Checksum;
use crate::partial::Partial;
use crate::reply::{self, End, Reply};
use crate::settings::Settings;

/// Why a try ended before the file was whole.
enum Trouble {
    /// It may go better next time, not before the server's own time if it named one.
    Passing(String, Option<Duration>),
    /// It never will.
    Lasting(Failure),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Trouble::Lasting(failure)
    }
}

/// Fetches `url` to the output `pgn`.
///
/// # Errors
/// The server refuses, nothing new came in [`Settings::tries`] tries, the sum is not the expected one, the disk
/// refuses, or the stage was asked to stop. What has arrived is kept, but for bytes with the wrong sum.
pub fn fetch(context: &Context, url: &str, expected: Option<Checksum>, settings: &Settings) -> Result<(), Failure> {
    let agent = agent(settings);
    let mut partial = Partial::open(context, context.kept(), url, settings.checkpoint)?;
    let mut furthest = partial.length();
    let mut idle = 0;
    while !partial.is_complete() {
        context.check_cancelled()?;
        context.doing(if partial.length() == 0 { "asking for the file" } else { "asking for the rest" });
        let (reason, after) = match attempt(context, &agent, url, expected, &mut partial) {
            Ok(()) => break,
            Err(Trouble::Lasting(failure)) => {
                // What has arrived is a help next time, and the failure is what matters now.
                let _ = partial.save();
                return Err(failure);
            }
            Err(Trouble::Passing(reason, after)) => (reason, after),
        };
        partial.save()?;
        idle = if partial.length() > furthest { 0 } else { idle + 1 };
        furthest = furthest.max(partial.length());
        if idle >= settings.tries {
            let have = partial.length();
            return Err(Failure::system(format!("{url}: {reason}; {idle} tries in a row brought nothing new"))
                .hint(format!("the {have} bytes that have arrived are kept: run again to go on from there")));
        }
        let wait = settings.wait(idle, after);
        context.log(format!("{reason} after {} bytes; next try in {} s", partial.length(), wait.as_secs()));
        pause(context, wait)?;
    }
    let (actual, length) = (partial.checksum(), partial.length());
    if let Some(expected) = expected.filter(|expected| *expected != actual) {
        partial.forget()?;
        return Err(Failure::input(format!("{url} gave {length} bytes with SHA-256 {actual}, but {expected} is expected"))
            .hint("the bytes are thrown away: run again if the transfer may have failed, or correct `sha256` if the file was changed on purpose"));
    }
    partial.finish(context.output("pgn")?)?;
    context.progress(length, Some(length), "bytes");
    context.metric("bytes", length as f64);
    context.log(format!("{length} bytes with SHA-256 {actual}"));
    Ok(())
}

fn agent(settings: &Settings) -> Agent {
    // The platform's roots, so that SSL_CERT_FILE and what an administrator added count; ureq's own default is a
    // list that it brings along.
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .tls_config(tls)
        .user_agent("cwm")
        .timeout_connect(Some(settings.connect))
        .timeout_recv_response(Some(settings.response))
        .timeout_per_read(Some(settings.read));
    if !settings.proxy {
        config = config.proxy(None);
    }
    config.build().into()
}

/// One request, and its body as far as it comes.
fn attempt(
    context: &Context,
    agent: &Agent,
    url: &str,
    expected: Option<Checksum>,
    partial: &mut Partial,
) -> Result<(), Trouble> {
    let mut request = agent.get(url).header("Accept-Encoding", "identity");
    if let Some(validator) = partial.validator() {
        request = request.header("Range", format!("bytes={}-", partial.length())).header("If-Range", validator);
    }
    let mut response = request.call().map_err(|error| trouble(url, error))?;
    let end = match reply::read(&response) {
        Reply::Whole { validator, end } => {
            partial.begin(validator, None)?;
            end
        }
        Reply::Rest { start, total, end } if continues(partial, start, total) => match (total.or(partial.total()), end)
        {
            (Some(total), _) => End::Length(total),
            (None, End::Length(rest)) => End::Length(start.saturating_add(rest)),
            (None, open) => open,
        },
        Reply::Rest { .. } | Reply::Outdated => {
            partial.forget()?;
            return Err(Trouble::Passing("the server cannot go on where the download was".into(), None));
        }
        Reply::Later { status, after } => return Err(Trouble::Passing(status, after)),
        Reply::Refused(why) => {
            return Err(Failure::input(format!("{url}: {why}")).hint("look whether the URL is right").into());
        }
    };
    match end {
        // From here on the length is that of the whole file.
        End::Length(total) => partial.expect(total),
        End::Close if expected.is_none() => {
            let message = format!("{url}: the server does not say how long the file is, so a cut would go unnoticed");
            return Err(Failure::input(message).hint("give the file's sum as `sha256`").into());
        }
        End::Chunks | End::Close => {}
    }
    let mut body = response.body_mut().as_reader();
    let mut piece = vec![0; 1 << 16];
    loop {
        context.check_cancelled()?;
        match body.read(&mut piece).map_err(|error| Trouble::Passing(error.to_string(), None))? {
            0 => break,
            read => partial.append(&piece[..read])?,
        }
        context.progress(partial.length(), partial.total(), "bytes");
    }
    match end {
        End::Length(total) if partial.length() < total => {
            Err(Trouble::Passing(format!("the server ended early, {total} bytes were promised"), None))
        }
        End::Length(total) if partial.length() > total => {
            partial.forget()?;
            Err(Trouble::Passing(format!("the server sent more than the {total} bytes that it promised"), None))
        }
        End::Length(_) => Ok(()),
        End::Chunks | End::Close => {
            partial.expect(partial.length());
            Ok(())
        }
    }
}

/// Whether an answer that begins at byte `start` of `total` is what is missing of the file.
fn continues(partial: &Partial, start: u64, total: Option<u64>) -> bool {
    let same = total.is_none() || partial.total().is_none() || total == partial.total();
    start == partial.length() && same
}

/// Whether it is worth another try.
fn trouble(url: &str, error: ureq::Error) -> Trouble {
    let message = format!("{url}: {error}");
    match error {
        ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::TooManyRedirects => {
            Failure::input(message).hint("look whether the URL is right").into()
        }
        ureq::Error::InvalidProxyUrl => {
            Failure::input(message).hint("look at the variables https_proxy and all_proxy").into()
        }
        ureq::Error::Tls(_) | ureq::Error::Pem(_) | ureq::Error::Rustls(_) => certificate(message),
        // So rustls hands on what it thinks of a certificate.
        ureq::Error::Io(ref inner) if inner.kind() == std::io::ErrorKind::InvalidData => certificate(message),
        other => Trouble::Passing(other.to_string(), None),
    }
}

fn certificate(message: String) -> Trouble {
    Failure::system(message)
        .hint("if a proxy here signs with a certificate of its own, name its file in SSL_CERT_FILE")
        .into()
}

/// Sleeps, but not when asked to stop.
fn pause(context: &Context, wait: Duration) -> Result<(), Failure> {
    let end = Instant::now() + wait;
    loop {
        context.check_cancelled()?;
        match end.checked_duration_since(Instant::now()) {
            Some(left) if !left.is_zero() => std::thread::sleep(left.min(Duration::from_millis(100))),
            _ => return Ok(()),
        }
    }
}
