//! zstd frames, found without decompressing them.
//!
//! `pzstd`, and concatenation of files makes many frames. Their lengths are not written down, but each block of a
//! frame says how long it is (RFC 8878, section 3.1), so that walking over the blocks' headers finds the frames' ends.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::decode::{DecodingReader, StreamOffset};
use super::source::{Meter, PgnReader};

/// The size from which a group of frames is complete, in bytes.
const GROUP_BYTES: u64 = 1 << 19;

/// Groups of whole frames of a file.
pub struct FrameGroups {
    file: Arc<File>,
    /// Offset of the next group.
    start: u64,
    size: u64,
    meter: Arc<Meter>,
}

/// A range of a file as a stream.
struct Section {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl FrameGroups {
    /// The frames of a file of `size` bytes.
    pub fn new(file: File, size: u64, meter: Arc<Meter>) -> Self {
        FrameGroups { file: Arc::new(file), start: 0, size, meter }
    }

    /// The end of the frame that begins at `start`; `None` if the file ends before it, or this is no frame.
    fn frame_end(&self, start: u64) -> io::Result<Option<u64>> {
        let mut header = [0; 14];
        let length = read_up_to(&self.file, &mut header, start)?;
        let end = match header[..length] {
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, a, b, c, d, ..] => {
                Some(start + 8 + u64::from(u32::from_le_bytes([a, b, c, d])))
            }
            [0x28, 0xb5, 0x2f, 0xfd, descriptor, ..] => self.blocks_end(start, descriptor)?,
            _ => None,
        };
        Ok(end.filter(|&end| end <= self.size))
    }

    /// Returns [`FrameGroups::frame_end`] for a frame with blocks and that descriptor.
    fn blocks_end(&self, start: u64, descriptor: u8) -> io::Result<Option<u64>> {
        let single_segment = descriptor & 0x20 != 0;
        let window = u64::from(!single_segment);
        let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let content_size = match descriptor >> 6 {
            0 => u64::from(single_segment),
            code => 1 << code,
        };
        let mut at = start + 5 + window + dictionary + content_size;
        loop {
            let mut header = [0; 3];
            if read_up_to(&self.file, &mut header, at)? < header.len() {
                return Ok(None);
            }
            let [a, b, c] = header.map(u64::from);
            let block = a | b << 8 | c << 16;
            at += 3 + match block >> 1 & 3 {
                0 | 2 => block >> 3,
                1 => 1,
                _ => return Ok(None),
            };
            if block & 1 == 1 {
                let checksum = if descriptor & 4 != 0 { 4 } else { 0 };
                return Ok(Some(at + checksum));
            }
        }
    }
}

impl Iterator for FrameGroups {
    type Item = io::Result<PgnReader>;

    /// The next group. What is no frame, or not whole, goes with all that follows to the decoder, which reports it.
    fn next(&mut self) -> Option<io::Result<PgnReader>> {
        let start = self.start;
        while self.start < self.size && self.start - start < GROUP_BYTES {
            match self.frame_end(self.start) {
                Ok(end) => self.start = end.unwrap_or(self.size),
                Err(error) => {
                    self.start = self.size;
                    return Some(Err(error));
                }
            }
        }
        if self.start == start {
            return None;
        }
        let offset = StreamOffset::new(start, self.meter.clone());
        let section = Section { file: self.file.clone(), at: start, end: self.start };
        Some(DecodingReader::zstd(offset.count(section), offset).map(|decoded| Box::new(decoded) as PgnReader))
    }
}

impl Read for Section {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = buffer.len().min(usize::try_from(self.end - self.at).unwrap_or(usize::MAX));
        let read = self.file.read_at(&mut buffer[..wanted], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Fills `buffer` from byte `at` on, or as much of it as there is.
fn read_up_to(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], at + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
