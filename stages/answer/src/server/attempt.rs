//! One request for an answer.

use std::io::{BufRead, BufReader, Read};
use std::time::Duration;

use cwm_contract::Failure;
use cwm_web::ureq::Agent;
use cwm_web::ureq::http::Response;
use cwm_web::ureq::{self, Body};
use cwm_web::{FetchError, classify, retry_after};

use super::key::ServerKey;
use super::lines::Lines;
use super::refusal;
use super::reply::Reply;
use super::server_error::{ServerError, TransientError};

/// The most bytes that are read of a refusal.
const LONGEST_REFUSAL: u64 = 64 << 10;

/// The server's address and key, and the limits of an answer, which all requests share.
pub struct Connection {
    /// The HTTP client.
    pub agent: Agent,
    /// The URL of the API.
    pub url: String,
    /// Its key.
    pub key: ServerKey,
    /// The most bytes of an answer.
    pub longest: usize,
    /// The longest time without content.
    pub timeout: Duration,
}

impl Connection {
    /// Sends a request, and reads the answer.
    ///
    /// # Errors
    /// There is no answer.
    pub fn attempt(&self, body: &str) -> Result<Reply, ServerError> {
        let url = format!("{}/chat/completions", self.url);
        let mut request = self.agent.post(&url).header("Content-Type", "application/json");
        if let Some(value) = self.key.header() {
            request = request.header("Authorization", value);
        }
        let mut response = request.send(body).map_err(|error| unreachable(&url, error))?;
        if response.status().as_u16() != 200 {
            return Err(refused(&mut response, &self.key));
        }
        let reader = BufReader::new(response.body_mut().as_reader());
        read(&mut Lines::new(reader, self.longest, self.timeout), self.longest, &self.key)
    }

    /// Reads the models that the server lists.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    pub fn models(&self) -> Result<Vec<u8>, ServerError> {
        let url = format!("{}/models", self.url);
        let mut request = self.agent.get(&url);
        if let Some(value) = self.key.header() {
            request = request.header("Authorization", value);
        }
        let mut response = request.call().map_err(|error| unreachable(&url, error))?;
        if response.status().as_u16() != 200 {
            return Err(refused(&mut response, &self.key));
        }
        Lines::new(BufReader::new(response.body_mut().as_reader()), self.longest, self.timeout).rest()
    }
}

/// Reads an answer of at most `longest` bytes: server-sent events, or one object where the server does not stream.
///
/// # Errors
/// It is none, or has no end.
pub fn read(lines: &mut Lines<impl BufRead>, longest: usize, key: &ServerKey) -> Result<Reply, ServerError> {
    let mut reply = Reply::default();
    match lines.first()? {
        Some(b'{') => {
            reply.take(&lines.rest()?, key)?;
        }
        Some(b'<') => {
            let message = "the server sent a page of HTML and no answer: look whether `url` is that of the API";
            return Err(ServerError::transient("unreadable", message));
        }
        _ => match read_events(lines, longest, &mut reply, key) {
            // All of the text is there: what is missing are counts at most.
            Err(ServerError::Transient(_)) if reply.is_whole() => {}
            done => done.map_err(|fault| fault.with_usage(reply.usage, reply.pieces))?,
        },
    }
    reply.check().map_err(|fault| fault.with_usage(reply.usage, reply.pieces))?;
    let redacted = |text: Option<String>| text.map(|text| key.redact(text));
    reply.content = key.redact(reply.content);
    reply.reasoning = redacted(reply.reasoning);
    reply.finish = redacted(reply.finish);
    reply.served = redacted(reply.served);
    Ok(reply)
}

fn read_events(
    lines: &mut Lines<impl BufRead>,
    longest: usize,
    reply: &mut Reply,
    key: &ServerKey,
) -> Result<(), ServerError> {
    while let Some(line) = lines.next_line()? {
        // Other lines are comments, which keep the connection open, and names of events.
        let Some(data) = line.strip_prefix(b"data:") else { continue };
        match data.trim_ascii() {
            b"" => {}
            // The end of the body may never come; without it, the connection is not used again.
            b"[DONE]" => return Ok(()),
            json => {
                if reply.take(json, key)? {
                    lines.mark_content();
                }
            }
        }
        if reply.length() > longest {
            return Err(ServerError::transient("too_large", format!("the answer is longer than {longest} bytes")));
        }
    }
    if reply.is_whole() {
        Ok(())
    } else {
        Err(ServerError::transient("cut", "the response ended before the answer did"))
    }
}

fn unreachable(url: &str, error: ureq::Error) -> ServerError {
    if matches!(error, ureq::Error::Timeout(_)) {
        return ServerError::transient("silent", format!("{url}: {error}"));
    }
    match classify(url, error) {
        FetchError::Permanent(failure) => ServerError::Fatal(failure),
        FetchError::Transient(message, after) => {
            let message = format!("{url}: {message}");
            ServerError::Transient(TransientError {
                fault: "unreachable",
                message,
                retry_after: after,
                is_shared: true,
                usage: Box::default(),
            })
        }
    }
}

fn refused(response: &mut Response<Body>, key: &ServerKey) -> ServerError {
    let (status, after) = (response.status(), retry_after(response.headers()));
    let location = response.headers().get("location").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let mut body = Vec::new();
    // The status counts; a body that does not come is missing in the message.
    let _ = response.body_mut().as_reader().take(LONGEST_REFUSAL).read_to_end(&mut body);
    refusal::of_status(&status.to_string(), status.as_u16(), location.as_deref(), after, &body, key)
}

/// A failure with the URL before it, without the key.
pub fn located(connection: &Connection, failure: Failure) -> Failure {
    let message = connection.key.redact(failure.message);
    let message = if message.contains(&connection.url) { message } else { format!("{}: {message}", connection.url) };
    Failure { message, hint: failure.hint.map(|hint| connection.key.redact(hint)), ..failure }
}
