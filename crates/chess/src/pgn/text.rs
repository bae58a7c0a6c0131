//! The text of a file, decompressed by threads of its own.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;

use super::source::{PgnReader, PgnReaders, PgnSource};

/// Bytes of text that go from thread to thread at a time.
const CHUNK: usize = 1 << 18;

/// Chunks of a part that may wait: as much as a frame of a parallel compressor holds (32 MiB) where parts are
/// decompressed side by side, else a few.
const WAITING: usize = 128;
const WAITING_ALONE: usize = 16;

/// The text of a source in order, decompressed ahead of its reader. Dropping it ends the threads.
pub struct Text {
    parts: Receiver<Receiver<io::Result<Chunk>>>,
    part: Option<Receiver<io::Result<Chunk>>>,
    chunk: Chunk,
    /// Bytes of the chunk that were read.
    read: usize,
    spare: Arc<Mutex<Vec<Chunk>>>,
}

/// Some text in the front of its buffer.
#[derive(Default)]
struct Chunk {
    buffer: Vec<u8>,
    filled: usize,
}

impl Text {
    /// Decompresses `source` on up to `decoders` threads of `scope`.
    pub fn spawn<'scope>(scope: &'scope Scope<'scope, '_>, source: PgnSource, decoders: usize) -> Self {
        let decoders = decoders.max(1);
        let (hand_out, parts) = sync_channel(decoders);
        let queue = Arc::new(Mutex::new((source.into_readers(), hand_out)));
        let spare = Arc::new(Mutex::new(Vec::new()));
        let waiting = if decoders == 1 { WAITING_ALONE } else { WAITING };
        for _ in 0..decoders {
            let (queue, spare) = (queue.clone(), spare.clone());
            scope.spawn(move || while decode_next(&queue, &spare, waiting).is_some() {});
        }
        Text { parts, part: None, chunk: Chunk::default(), read: 0, spare }
    }

    /// The next chunk; `None` at the end of the text.
    fn next_chunk(&mut self) -> Option<io::Result<Chunk>> {
        loop {
            if let Some(chunk) = self.part.as_ref().and_then(|part| part.recv().ok()) {
                return Some(chunk);
            }
            self.part = Some(self.parts.recv().ok()?);
        }
    }
}

/// Parts of the text that no thread has begun, and the channel that announces them in the order of the text.
type Queue = (PgnReaders, SyncSender<Receiver<io::Result<Chunk>>>);

/// Decompresses the next part; `None` when there is none, or nobody reads.
fn decode_next(queue: &Mutex<Queue>, spare: &Mutex<Vec<Chunk>>, waiting: usize) -> Option<()> {
    let (part, chunks) = {
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        let part = queue.0.next()?;
        let (chunks, receiver) = sync_channel(waiting);
        // Under the lock, so that the parts are handed out in their order.
        queue.1.send(receiver).ok()?;
        (part, chunks)
    };
    let mut part = match part {
        Ok(part) => part,
        Err(error) => return chunks.send(Err(error)).ok(),
    };
    loop {
        let mut chunk = spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let ended = chunk.fill(&mut part);
        if chunk.filled > 0 {
            chunks.send(Ok(chunk)).ok()?;
        }
        match ended {
            Ok(false) => {}
            Ok(true) => return Some(()),
            Err(error) => return chunks.send(Err(error)).ok(),
        }
    }
}

impl Chunk {
    /// Reads a chunk of `part`; true at its end.
    fn fill(&mut self, part: &mut PgnReader) -> io::Result<bool> {
        self.buffer.resize(CHUNK, 0);
        self.filled = 0;
        while self.filled < CHUNK {
            match part.read(&mut self.buffer[self.filled..]) {
                Ok(0) => return Ok(true),
                Ok(read) => self.filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }
}

impl BufRead for Text {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.read == self.chunk.filled {
            let Some(chunk) = self.next_chunk() else { return Ok(&[]) };
            let empty = std::mem::replace(&mut self.chunk, chunk?);
            self.read = 0;
            self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(empty);
        }
        Ok(&self.chunk.buffer[self.read..self.chunk.filled])
    }

    fn consume(&mut self, bytes: usize) {
        self.read = (self.read + bytes).min(self.chunk.filled);
    }
}

impl Read for Text {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let text = self.fill_buf()?;
        let length = text.len().min(buffer.len());
        buffer[..length].copy_from_slice(&text[..length]);
        self.consume(length);
        Ok(length)
    }
}
