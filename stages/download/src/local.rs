//! A file from outside: checked, and used where it is.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use cwm_contract::{Context, Failure};
use sha2::{Digest, Sha256};

use crate::checksum::Checksum;

/// Declares the output to be `path`; reads the file only if there is a sum to compare.
///
/// # Errors
/// There is no such file, or its sum is another.
pub fn refer(context: &Context, path: &Path, expected: Option<Checksum>) -> Result<(), Failure> {
    let cannot =
        |error| Failure::io("read", path, error).hint("give the path of a file, or an http(s) URL, as `source`");
    let file = File::open(path).map_err(cannot)?;
    let metadata = file.metadata().map_err(cannot)?;
    if !metadata.is_file() {
        return Err(Failure::input(format!("{} is not a file", path.display()))
            .hint("give the path of a file, or an http(s) URL, as `source`"));
    }
    if let Some(expected) = expected {
        context.doing("checking the sum");
        let actual = sum(context, file, metadata.len()).map_err(|error| match error {
            Stop::Reading(error) => cannot(error),
            Stop::Cancelled(failure) => failure,
        })?;
        if actual != expected {
            return Err(Failure::input(format!("{} has SHA-256 {actual}, but {expected} is expected", path.display()))
                .hint("if this is the file you mean, put its sum into `sha256`; else get the right file"));
        }
    }
    context.same_as("pgn", path);
    Ok(())
}

enum Stop {
    Reading(std::io::Error),
    Cancelled(Failure),
}

/// The sum of a file of `length` bytes, read once in pieces.
fn sum(context: &Context, mut file: File, length: u64) -> Result<Checksum, Stop> {
    let mut hasher = Sha256::new();
    let mut piece = vec![0; 1 << 20];
    let mut done = 0;
    loop {
        context.check_cancelled().map_err(Stop::Cancelled)?;
        match file.read(&mut piece).map_err(Stop::Reading)? {
            0 => return Ok(Checksum::of(hasher)),
            read => {
                hasher.update(&piece[..read]);
                done += read as u64;
                context.progress(done, Some(length), "bytes");
            }
        }
    }
}
