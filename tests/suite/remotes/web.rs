//! A web server before a folder: one that knows ranges, one that does not, one that does not answer to the end.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The way in which the server answers.
#[derive(Clone, Copy, PartialEq)]
pub enum Manner {
    /// With the bytes that are requested.
    Ranges,
    /// With all of it, whatever is requested.
    Whole,
    /// As [`Manner::Ranges`], but no byte comes that is at this place of a file or behind it.
    Until(u64),
}

/// A web server of this machine.
pub struct Web {
    pub port: u16,
    state: Arc<State>,
}

struct State {
    root: PathBuf,
    manner: Mutex<Manner>,
    /// The first bytes of the ranges that were requested.
    ranges: Mutex<Vec<u64>>,
}

impl Web {
    pub fn before(root: PathBuf) -> Web {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state = Arc::new(State { root, manner: Mutex::new(Manner::Ranges), ranges: Mutex::default() });
        let shared = state.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let state = shared.clone();
                std::thread::spawn(move || drop(state.serve(client)));
            }
        });
        Web { port, state }
    }

    /// From now on it answers like this, and ranges are counted anew.
    pub fn set(&self, manner: Manner) {
        *self.state.manner.lock().expect("no panic") = manner;
        self.state.ranges.lock().expect("no panic").clear();
    }

    /// Returns the first bytes of the ranges that were requested since `set`, in ascending order.
    pub fn ranges(&self) -> Vec<u64> {
        let mut ranges = self.state.ranges.lock().expect("no panic").clone();
        ranges.sort_unstable();
        ranges
    }
}

impl State {
    /// One request, after which the connection ends.
    fn serve(&self, mut client: TcpStream) -> std::io::Result<()> {
        client.set_read_timeout(Some(Duration::from_secs(30)))?;
        let mut head = Vec::new();
        let mut buffer = [0; 4096];
        while !head.ends_with(b"\r\n\r\n") {
            match client.read(&mut buffer)? {
                0 => return Ok(()),
                read => head.extend_from_slice(&buffer[..read]),
            }
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let path = head.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
        let Ok(bytes) = std::fs::read(self.root.join(path)) else {
            return client.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        };
        let modified = "Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n";
        let asked = head.lines().find_map(|line| line.to_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
        let manner = *self.manner.lock().expect("no panic");
        let range = asked.and_then(|asked| {
            let (from, to) = asked.split_once('-')?;
            Some((from.parse::<u64>().ok()?, to.parse().unwrap_or(u64::MAX).min(bytes.len() as u64 - 1)))
        });
        if let Some((from, _)) = range {
            self.ranges.lock().expect("no panic").push(from);
        }
        let (status, body) = match (range, manner) {
            (Some((from, _)), Manner::Until(end)) if from >= end => return Ok(()),
            (Some((from, _)), Manner::Ranges) if from >= bytes.len() as u64 => {
                ("416 Range Not Satisfiable\r\n".to_owned(), &bytes[..0])
            }
            (Some((from, to)), Manner::Ranges | Manner::Until(_)) => {
                let status = format!("206 Partial Content\r\nContent-Range: bytes {from}-{to}/{}\r\n", bytes.len());
                (status, &bytes[from as usize..=to as usize])
            }
            _ => ("200 OK\r\n".to_owned(), &bytes[..]),
        };
        let length = body.len();
        client.write_all(
            format!("HTTP/1.1 {status}{modified}Content-Length: {length}\r\nConnection: close\r\n\r\n").as_bytes(),
        )?;
        let sent = match manner {
            Manner::Until(end) => body.len().min((end - range.map_or(0, |(from, _)| from)) as usize),
            Manner::Ranges | Manner::Whole => body.len(),
        };
        match head.starts_with("HEAD ") {
            true => Ok(()),
            false => client.write_all(&body[..sent]),
        }
    }
}
