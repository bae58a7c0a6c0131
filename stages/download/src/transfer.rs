//! One request, made in a thread of its own, so that whoever waits for it can be asked to stop at any moment, also where
//! the server is silent.

use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use cwm_contract::{Context, Failure};
use ureq::Agent;

use crate::reply::{self, Reply};

/// Pieces that may wait to be taken; with [`PIECE`], what a transfer holds in memory.
const WAITING: usize = 16;

/// Bytes of a piece.
const PIECE: usize = 1 << 18;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// Of which file.
    pub url: String,
    /// First byte and, if not to the end, last byte.
    pub range: Option<(u64, Option<u64>)>,
    /// The name that the file must still have, else the server sends all of it.
    pub if_range: Option<String>,
}

/// What comes, in this order: a head, pieces, the end; or trouble in place of any of them.
#[derive(Debug)]
pub enum Heard {
    /// The head of the answer. The body comes only if the transfer is kept.
    Head(Reply),
    /// The next bytes of the body.
    Piece(Vec<u8>),
    /// The body is over.
    End,
    /// It went wrong.
    Trouble(Trouble),
}

/// Why a try ended before the file was whole.
#[derive(Debug)]
pub enum Trouble {
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

/// A request under way. Dropped, it is given up: its thread ends at its next piece or at a time limit of the agent.
pub struct Transfer {
    heard: Receiver<Heard>,
}

impl Transfer {
    /// Makes the request.
    pub fn start(agent: &Agent, request: Request) -> Self {
        let (sender, heard) = sync_channel(WAITING);
        let agent = agent.clone();
        std::thread::spawn(move || {
            if let Err(trouble) = talk(&agent, &request, &sender) {
                // Nobody listens any more: that is their right.
                let _ = sender.send(Heard::Trouble(trouble));
            }
        });
        Transfer { heard }
    }

    /// Waits for what comes next.
    ///
    /// # Errors
    /// The stage was asked to stop.
    pub fn next(&self, context: &Context) -> Result<Heard, Failure> {
        loop {
            context.check_cancelled()?;
            match self.heard.recv_timeout(Duration::from_millis(100)) {
                Ok(heard) => return Ok(heard),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(Heard::Trouble(Trouble::Passing("the transfer ended without a word".into(), None)));
                }
            }
        }
    }
}

fn talk(agent: &Agent, request: &Request, sender: &SyncSender<Heard>) -> Result<(), Trouble> {
    let mut asked = agent.get(&request.url).header("Accept-Encoding", "identity");
    if let Some((first, last)) = request.range {
        let last = last.map(|last| last.to_string()).unwrap_or_default();
        asked = asked.header("Range", format!("bytes={first}-{last}"));
    }
    if let Some(name) = &request.if_range {
        asked = asked.header("If-Range", name);
    }
    let mut response = asked.call().map_err(|error| trouble(&request.url, error))?;
    if sender.send(Heard::Head(reply::read(&response))).is_err() {
        return Ok(());
    }
    let mut body = response.body_mut().as_reader();
    loop {
        let mut piece = vec![0; PIECE];
        match body.read(&mut piece).map_err(|error| Trouble::Passing(error.to_string(), None))? {
            0 => {
                let _ = sender.send(Heard::End);
                return Ok(());
            }
            read => piece.truncate(read),
        }
        if sender.send(Heard::Piece(piece)).is_err() {
            return Ok(());
        }
    }
}

/// Whether it is worth another try.
fn trouble(url: &str, error: ureq::Error) -> Trouble {
    let message = format!("{url}: {error}");
    match error {
        ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::TooManyRedirects => {
            Failure::input(message).hint("look whether the URL is right").into()
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
