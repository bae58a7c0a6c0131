//! A server for tests that answers as configured, right or wrong. Tests of stages and of the workspace include this file.

#![allow(dead_code, reason = "each of these tests uses a part of it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

/// A request of a client.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// The path of the URL.
    pub path: String,
    /// Number of the first byte wanted; 0 without `Range`.
    pub start: usize,
    /// Number of the last byte wanted, if the request names one.
    pub last: Option<usize>,
    /// True if there was a `Range` at all.
    pub ranged: bool,
    /// The file that the range belongs to.
    pub if_range: Option<String>,
    /// The header `Authorization`.
    pub authorization: Option<String>,
    /// The body that the client sent.
    pub body: String,
}

/// A response of the server.
pub struct Response {
    /// Status line and headers.
    pub head: String,
    /// The part of the body that is sent.
    pub body: Vec<u8>,
    /// True if the connection stays open, with nothing more coming.
    pub stalls: bool,
    /// True if the body is sent again and again, until the client hangs up.
    pub repeats: bool,
}

/// A response with no body.
pub fn empty(status: &str) -> Response {
    Response {
        head: format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n"),
        body: Vec::new(),
        stalls: false,
        repeats: false,
    }
}

/// The right response for a file with the given `ETag`: the part if one is wanted and the tag is the same or was not
/// requested, else all.
pub fn serve(file: &[u8], tag: &str, request: &Request) -> Response {
    let same = request.if_range.as_deref().is_none_or(|wanted| wanted == tag);
    if request.ranged && same && request.start >= file.len() {
        return empty(&format!("416 Range Not Satisfiable\r\nContent-Range: bytes */{}", file.len()));
    }
    let (status, body) = if request.ranged && same {
        let end = request.last.map_or(file.len(), |last| file.len().min(last + 1));
        let range = format!("bytes {}-{}/{}", request.start, end - 1, file.len());
        (format!("206 Partial Content\r\nContent-Range: {range}"), &file[request.start..end])
    } else {
        ("200 OK".to_owned(), file)
    };
    let head = format!("HTTP/1.1 {status}\r\nETag: {tag}\r\nContent-Length: {}\r\n", body.len());
    Response { head, body: body.to_vec(), stalls: false, repeats: false }
}

impl Response {
    /// Cuts the answer after `bytes` of the body.
    pub fn cut(mut self, bytes: usize) -> Self {
        self.body.truncate(bytes);
        self
    }

    /// Stalls the answer: what is cut off never comes, and the connection stays open.
    pub fn stalling(mut self) -> Self {
        self.stalls = true;
        self
    }

    /// Replaces a piece of the head.
    pub fn with_head_replaced(mut self, from: &str, to: &str) -> Self {
        assert!(self.head.contains(from), "{from} is not in {}", self.head);
        self.head = self.head.replace(from, to);
        self
    }
}

/// The log of a server.
#[derive(Default)]
struct ServerLog {
    requests: Vec<Request>,
    /// Bytes of bodies that went out.
    served: usize,
}

/// A running server; it goes with the process.
pub struct Server {
    /// Its URL, with the path `/games.pgn.zst`.
    pub url: String,
    /// Its URL, without a path.
    pub base: String,
    log: Arc<Mutex<ServerLog>>,
}

impl Server {
    /// Starts one that answers the n-th request (from 0) with `answer(n, request)`.
    pub fn start(answer: impl Fn(usize, &Request) -> Response + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let log = Arc::new(Mutex::new(ServerLog::default()));
        let (answer, shared) = (Arc::new(answer), log.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, answer, log) = (stream.expect("a connection"), answer.clone(), shared.clone());
                std::thread::spawn(move || serve_connection(stream, answer.as_ref(), &log));
            }
        });
        Server { url: format!("{base}/games.pgn.zst"), base, log }
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.log.lock().expect("no panic").requests.clone()
    }

    /// Returns the number of bytes of bodies that were sent so far.
    pub fn served(&self) -> usize {
        self.log.lock().expect("no panic").served
    }
}

fn serve_connection(mut stream: TcpStream, answer: &dyn Fn(usize, &Request) -> Response, log: &Mutex<ServerLog>) {
    let Some(request) = read(&stream) else { return };
    let number = {
        let mut log = log.lock().expect("no panic");
        log.requests.push(request.clone());
        log.requests.len() - 1
    };
    let answer = answer(number, &request);
    // A client that has had enough hangs up: that is its right.
    let _ = stream.write_all(format!("{}Connection: close\r\n\r\n", answer.head).as_bytes());
    loop {
        for piece in answer.body.chunks(1 << 16) {
            if stream.write_all(piece).is_err() {
                return;
            }
            log.lock().expect("no panic").served += piece.len();
        }
        if !answer.repeats {
            break;
        }
    }
    if answer.stalls {
        // Until the client has had enough.
        let _ = stream.read(&mut [0]);
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut lines = reader.by_ref().lines();
    let first = lines.next()?.ok()?;
    let mut request = Request { path: first.split(' ').nth(1)?.to_owned(), ..Request::default() };
    let mut length = 0;
    loop {
        let line = lines.next()?.ok()?;
        let Some((name, value)) = line.split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "range" => {
                let (start, last) = value.strip_prefix("bytes=")?.split_once('-')?;
                (request.ranged, request.start, request.last) = (true, start.parse().ok()?, last.parse().ok());
            }
            "if-range" => request.if_range = Some(value.to_owned()),
            "authorization" => request.authorization = Some(value.to_owned()),
            "content-length" => length = value.parse().ok()?,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    request.body = String::from_utf8(body).ok()?;
    Some(request)
}

/// Starts a proxy that opens tunnels: where it is, and the first line of each request as it comes.
pub fn tunnels() -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let (sender, asked) = channel();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let sender = sender.clone();
            std::thread::spawn(move || {
                // A client that closes the connection ends its own tunnel alone.
                let _ = tunnel(client?, |first| drop(sender.send(first)));
                std::io::Result::Ok(())
            });
        }
    });
    (url, asked)
}

fn tunnel(mut client: TcpStream, report: impl FnOnce(String)) -> std::io::Result<()> {
    let mut lines = BufReader::new(client.try_clone()?).lines();
    let first = lines.next().ok_or(std::io::ErrorKind::UnexpectedEof)??;
    while !lines.next().ok_or(std::io::ErrorKind::UnexpectedEof)??.is_empty() {}
    let mut server = TcpStream::connect(first.split(' ').nth(1).unwrap_or_default())?;
    report(first);
    client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
    let (mut to, mut from) = (server.try_clone()?, client.try_clone()?);
    std::thread::spawn(move || std::io::copy(&mut from, &mut to));
    std::io::copy(&mut server, &mut client).map(drop)
}
