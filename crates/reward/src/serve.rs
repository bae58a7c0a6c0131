//! Answers input block by block: all lines that have arrived are judged in parallel, then answered in their order.

use std::io::{ErrorKind, Read, Write};

use cwm_contract::Failure;
use rayon::prelude::*;

use crate::items::Items;
use crate::line::answer;

/// The bytes of one read: the capacity of a pipe.
const CHUNK: usize = 1 << 16;

/// The fewest lines that one thread judges: for fewer, a thread costs more than it saves.
const SHARE: usize = 32;

/// Answers the lines of `input` until its end.
///
/// # Errors
/// `input` cannot be read, or `output` cannot be written.
pub fn serve(items: &Items, input: &mut dyn Read, output: &mut dyn Write) -> Result<(), Failure> {
    // What was read and not answered: the begin of a line, but for the bytes that were read last.
    let mut pending = Vec::new();
    let mut number = 0;
    loop {
        let start = pending.len();
        pending.resize(start + CHUNK, 0);
        let read = loop {
            match input.read(&mut pending[start..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        let read = read.map_err(|error| Failure::system(format!("standard input cannot be read: {error}")))?;
        pending.truncate(start + read);
        let is_end = read == 0;
        let whole = match pending[start..].iter().rposition(|byte| *byte == b'\n') {
            Some(at) => start + at + 1,
            None if is_end => pending.len(),
            None => continue,
        };
        if whole > 0 {
            let answers = answer_all(items, &pending[..whole], &mut number);
            let written = output.write_all(&answers).and_then(|()| output.flush());
            written.map_err(|error| Failure::system(format!("standard output cannot be written: {error}")))?;
            pending.drain(..whole);
        }
        if is_end {
            return Ok(());
        }
    }
}

/// The answers to whole lines, before which there were `number`.
fn answer_all(items: &Items, block: &[u8], number: &mut u64) -> Vec<u8> {
    let block = block.strip_suffix(b"\n").unwrap_or(block);
    let lines: Vec<(u64, &[u8])> = (*number + 1..).zip(block.split(|byte| *byte == b'\n')).collect();
    *number += lines.len() as u64;
    let answers: Vec<Vec<u8>> =
        lines.par_iter().with_min_len(SHARE).map(|(number, line)| answer(items, line, *number)).collect();
    answers.concat()
}
