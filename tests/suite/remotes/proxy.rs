//! A way to a server that breaks: requests cut in the middle, answers cut, changed or refused, silence, death.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A fault of the connection; requests are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing.
    None,
    /// From this request on everything is cut in the middle of the request.
    DiesAt(usize),
    /// The first try of every request is cut in the middle.
    CutsRequests,
    /// The first try of every answer is cut in the middle.
    CutsAnswers,
    /// The first try of every request is answered 503.
    Busy,
    /// From this request on nothing is answered.
    HangsAt(usize),
    /// One byte of every object that comes is another.
    Flips,
}

/// A proxy before a server of this machine.
pub struct Proxy {
    pub port: u16,
    state: Arc<State>,
}

struct State {
    upstream: u16,
    trouble: Mutex<Trouble>,
    requests: AtomicUsize,
    parts: AtomicUsize,
    /// The first lines of the requests so far, which identify retries: they are not in lockstep with other requests.
    seen: Mutex<HashSet<Vec<u8>>>,
}

impl Proxy {
    pub fn before(upstream: u16) -> Proxy {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state = Arc::new(State {
            upstream,
            trouble: Mutex::new(Trouble::None),
            requests: AtomicUsize::new(0),
            parts: AtomicUsize::new(0),
            seen: Mutex::default(),
        });
        let shared = state.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let state = shared.clone();
                std::thread::spawn(move || drop(state.serve(client)));
            }
        });
        Proxy { port, state }
    }

    /// From now on this goes wrong, and requests are counted from 1.
    pub fn set(&self, trouble: Trouble) {
        *self.state.trouble.lock().expect("no panic") = trouble;
        self.state.requests.store(0, Ordering::SeqCst);
        self.state.parts.store(0, Ordering::SeqCst);
        self.state.seen.lock().expect("no panic").clear();
    }

    /// Returns the number of requests since `set`.
    pub fn requests(&self) -> usize {
        self.state.requests.load(Ordering::SeqCst)
    }

    /// Returns the number of parts of uploads that the server has accepted since `set`.
    pub fn parts(&self) -> usize {
        self.state.parts.load(Ordering::SeqCst)
    }
}

impl State {
    /// One request, after which the connection ends.
    fn serve(&self, mut client: TcpStream) -> std::io::Result<()> {
        client.set_read_timeout(Some(Duration::from_secs(30)))?;
        let (head, body) = read_request(&mut client)?;
        let number = self.requests.fetch_add(1, Ordering::SeqCst) + 1;
        let trouble = *self.trouble.lock().expect("no panic");
        let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default().to_vec();
        let is_first = self.seen.lock().expect("no panic").insert(line);
        match trouble {
            // What came of it is gone: the server sees half of it.
            Trouble::DiesAt(at) if number >= at => return self.half(&head, &body),
            Trouble::CutsRequests if is_first => return self.half(&head, &body),
            Trouble::Busy if is_first => {
                let answer = "HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                return client.write_all(answer.as_bytes());
            }
            Trouble::HangsAt(at) if number >= at => {
                std::thread::sleep(Duration::from_secs(8));
                return Ok(());
            }
            _ => {}
        }
        let mut server = TcpStream::connect(("127.0.0.1", self.upstream))?;
        server.write_all(&closing(&head))?;
        server.write_all(&body)?;
        let mut answer = Vec::new();
        server.read_to_end(&mut answer)?;
        if contains(&head, b"partNumber=") {
            self.parts.fetch_add(1, Ordering::SeqCst);
        }
        if trouble == Trouble::CutsAnswers && is_first {
            answer.truncate(answer.len() / 2);
        }
        if trouble == Trouble::Flips
            && head.starts_with(b"GET ")
            && contains(&head, b"/objects/")
            && let Some(last) = answer.last_mut()
        {
            *last ^= 1;
        }
        client.write_all(&answer)
    }

    /// The server gets half of the request, and sends no answer.
    fn half(&self, head: &[u8], body: &[u8]) -> std::io::Result<()> {
        let mut server = TcpStream::connect(("127.0.0.1", self.upstream))?;
        let whole = [closing(head), body.to_vec()].concat();
        server.write_all(&whole[..whole.len() - body.len().div_ceil(2).max(2)])
    }
}

/// The head of a request, up to the empty line, and its body.
fn read_request(client: &mut TcpStream) -> std::io::Result<(Vec<u8>, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 65536];
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        match client.read(&mut buffer)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            read => bytes.extend_from_slice(&buffer[..read]),
        }
    };
    let mut body = bytes.split_off(end);
    let text = String::from_utf8_lossy(&bytes).to_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok()).unwrap_or(0);
    while body.len() < length {
        match client.read(&mut buffer)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            read => body.extend_from_slice(&buffer[..read]),
        }
    }
    Ok((bytes, body))
}

/// The head of a request after whose answer the server ends the connection.
fn closing(head: &[u8]) -> Vec<u8> {
    let mut head = head[..head.len() - 2].to_vec();
    head.extend_from_slice(b"Connection: close\r\n\r\n");
    head
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
