//! Event files, as TensorBoard reads them: records of serialised `Event` messages.
//!
//! A record is its length (u64), a checksum of that, the message, a checksum of that, all little-endian. The messages are
//! those of tensorflow/core/util/event.proto and summary.proto, of which three fields of numbers and two of texts are
//! needed; so they are written by hand.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Result, Write};
use std::path::Path;

use cwm_contract::CurvePoint;

/// The prefix of file names by which TensorBoard finds event files.
pub const PREFIX: &str = "events.out.tfevents.";

/// The version in the first record of a file.
const VERSION: &str = "brain.Event:2";

/// A file of events.
pub struct EventFile(File);

impl EventFile {
    /// Creates a file in `folder` after the existing ones, with `time` in seconds since 1970. TensorBoard reads the files of a
    /// folder in the order of their names, and may no longer read an older one, so no file is continued.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn begin(folder: &Path, time: f64) -> Result<Self> {
        let mut number = 0;
        let mut file = loop {
            let path = folder.join(format!("{PREFIX}{number:010}.cwm"));
            match OpenOptions::new().create_new(true).write(true).open(path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                opened => break opened?,
            }
        };
        let mut event = header(time, 0);
        bytes_field(&mut event, 3, VERSION.as_bytes());
        file.write_all(&record(&event))?;
        Ok(EventFile(file))
    }

    /// Adds the points of one step.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn push(&mut self, points: &[CurvePoint], time: f64) -> Result<()> {
        let mut records = Vec::new();
        for point in points {
            // Value: tag = 1, simple_value = 2 (float); Summary: value = 1; Event: summary = 5.
            let mut value = Vec::new();
            bytes_field(&mut value, 1, point.curve.as_bytes());
            value.push(2 << 3 | 5);
            value.extend((point.value as f32).to_le_bytes());
            let mut summary = Vec::new();
            bytes_field(&mut summary, 1, &value);
            let mut event = header(time, point.step);
            bytes_field(&mut event, 5, &summary);
            records.extend(record(&event));
        }
        // At once, so that a reader finds whole records.
        self.0.write_all(&records)
    }
}

/// Event: wall_time = 1 (double), step = 2 (int64).
fn header(time: f64, step: u64) -> Vec<u8> {
    let mut event = vec![1 << 3 | 1];
    event.extend(time.to_le_bytes());
    event.push(2 << 3);
    variable(&mut event, step);
    event
}

/// A field of bytes or text.
fn bytes_field(message: &mut Vec<u8>, number: u8, bytes: &[u8]) {
    message.push(number << 3 | 2);
    variable(message, bytes.len() as u64);
    message.extend(bytes);
}

/// A number in groups of seven bits, the lowest first.
fn variable(message: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        message.push(number as u8 | 0x80);
        number >>= 7;
    }
    message.push(number as u8);
}

fn record(message: &[u8]) -> Vec<u8> {
    let length = (message.len() as u64).to_le_bytes();
    [&length[..], &checksum(&length), message, &checksum(message)].concat()
}

/// CRC-32C, turned and shifted as the format wants it, so that a checksum of checksums is not zero.
fn checksum(bytes: &[u8]) -> [u8; 4] {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the description of the format, field by field.
    #[test]
    fn records_hold_events_and_their_checksums() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = EventFile::begin(folder.path(), 1.5).unwrap();
        file.push(&[CurvePoint { curve: "a".into(), step: 300, value: 0.25 }], 2.0).unwrap();
        let path = folder.path().join("events.out.tfevents.0000000000.cwm");
        let bytes = std::fs::read(&path).unwrap();
        let version = [&[9][..], &1.5f64.to_le_bytes(), &[16, 0, 26, 13], b"brain.Event:2"].concat();
        let value = [&[10, 1, b'a', 21][..], &0.25f32.to_le_bytes()].concat();
        let point = [&[9][..], &2f64.to_le_bytes(), &[16, 0xac, 2, 42, 10, 10, 8], &value].concat();
        let mut rest = &bytes[..];
        for message in [version, point] {
            let (length, after) = rest.split_at(12);
            assert_eq!(length[..8], (message.len() as u64).to_le_bytes());
            assert_eq!(length[8..], checksum(&length[..8]));
            assert_eq!(after[..message.len()], message);
            assert_eq!(after[message.len()..][..4], checksum(&message));
            rest = &after[message.len() + 4..];
        }
        assert!(rest.is_empty());
        // RFC 3720, B.4: 32 bytes of zero have the CRC-32C 0x8a9136aa.
        assert_eq!(crc32c::crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(checksum(&[0; 32]), (0x8a91_36aau32.rotate_right(15).wrapping_add(0xa282_ead8)).to_le_bytes());
        drop(EventFile::begin(folder.path(), 9.0).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "a file of before is left as it is");
        assert!(folder.path().join("events.out.tfevents.0000000001.cwm").exists());
    }
}
