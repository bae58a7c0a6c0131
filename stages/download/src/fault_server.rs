//! A server for tests that answers as told, right or wrong.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What a client asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Number of the first byte wanted; 0 without `Range`.
    pub start: usize,
    /// The file that the range belongs to.
    pub if_range: Option<String>,
}

/// What the server sends.
pub struct Answer {
    /// Status line and headers.
    pub head: String,
    /// As much of the body as is sent.
    pub body: Vec<u8>,
    /// Whether the connection stays open, with nothing more coming.
    pub stalls: bool,
}

/// An answer with no body.
pub fn empty(status: &str) -> Answer {
    Answer { head: format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n"), body: Vec::new(), stalls: false }
}

/// The right answer for a file with the given `ETag`: the rest if that is wanted and the tag is the same, else all.
pub fn serve(file: &[u8], tag: &str, request: &Request) -> Answer {
    let start = if request.if_range.as_deref() == Some(tag) { request.start } else { 0 };
    let rest = &file[start..];
    let status = match start {
        0 => "200 OK".to_owned(),
        _ => format!("206 Partial Content\r\nContent-Range: bytes {start}-{}/{}", file.len() - 1, file.len()),
    };
    let head = format!("HTTP/1.1 {status}\r\nETag: {tag}\r\nContent-Length: {}\r\n", rest.len());
    Answer { head, body: rest.to_vec(), stalls: false }
}

impl Answer {
    /// The same, cut after `bytes` of the body.
    pub fn cut(mut self, bytes: usize) -> Self {
        self.body.truncate(bytes);
        self
    }

    /// The same with a piece of the head replaced.
    pub fn saying(mut self, from: &str, to: &str) -> Self {
        assert!(self.head.contains(from), "{from} is not in {}", self.head);
        self.head = self.head.replace(from, to);
        self
    }
}

/// A running server; it goes with the process.
pub struct Server {
    /// Where it is.
    pub url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Starts one that answers the n-th request (from 0) with `answer(n, request)`.
    pub fn start(answer: impl Fn(usize, &Request) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/games.pgn.zst", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = requests.clone();
        std::thread::spawn(move || {
            let mut stalled = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let Some(request) = read(&stream) else { continue };
                let number = {
                    let mut seen = seen.lock().unwrap();
                    seen.push(request.clone());
                    seen.len() - 1
                };
                let answer = answer(number, &request);
                // A client that has had enough hangs up: that is its right.
                let _ = stream.write_all(format!("{}Connection: close\r\n\r\n", answer.head).as_bytes());
                let _ = stream.write_all(&answer.body);
                if answer.stalls {
                    stalled.push(stream);
                }
            }
        });
        Server { url, requests }
    }

    /// What has been asked for so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut request = Request { start: 0, if_range: None };
    for line in BufReader::new(stream).lines() {
        let line = line.ok()?;
        match line.split_once(": ") {
            _ if line.is_empty() => return Some(request),
            Some((name, value)) if name.eq_ignore_ascii_case("range") => {
                request.start = value.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()?;
            }
            Some((name, value)) if name.eq_ignore_ascii_case("if-range") => request.if_range = Some(value.to_owned()),
            _ => {}
        }
    }
    None
}
