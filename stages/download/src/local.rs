//! Files from outside: used where they are, or copied.

use std::fs::File;
use std::io::{Read, copy};
use std::path::Path;

use cwm_contract::{Context, Failure};
use sha2::{Digest, Sha256};

use crate::checksum::Checksum;
use crate::expectation::Expectation;

/// Number of bytes that are copied between two checks for cancellation.
const STEP: u64 = 64 << 20;

/// A file to read.
///
/// # Errors
/// There is no such file.
pub fn open(path: &Path) -> Result<(File, u64), Failure> {
    let hint = "give the path of a file, or an http(s) URL, as `source`";
    let cannot = |error| Failure::io("read", path, error).hint(hint);
    let file = File::open(path).map_err(cannot)?;
    let metadata = file.metadata().map_err(cannot)?;
    if !metadata.is_file() {
        return Err(Failure::input(format!("{} is not a file", path.display())).hint(hint));
    }
    Ok((file, metadata.len()))
}

/// Checks the sum of a file, or of its first bytes; reads it only if there is a sum to compare.
///
/// # Errors
/// It cannot be read, its sum is another, or the stage was cancelled.
pub fn check(
    context: &Context,
    path: &Path,
    first_bytes: Option<u64>,
    expected: Option<&Expectation>,
) -> Result<u64, Failure> {
    let (file, length) = open(path)?;
    let length = first_bytes.map_or(length, |bytes| bytes.min(length));
    let Some(expected) = expected else { return Ok(length) };
    context.activity("checking the sum");
    let (mut file, mut hasher) = (file.take(length), Sha256::new());
    let mut piece = vec![0; 1 << 20];
    let mut done = 0;
    loop {
        context.check_cancelled()?;
        match file.read(&mut piece).map_err(|error| Failure::io("read", path, error))? {
            0 => break,
            read => {
                hasher.update(&piece[..read]);
                done += read as u64;
                context.progress(done, Some(length), "bytes");
            }
        }
    }
    let what = match first_bytes {
        Some(bytes) => format!("the first {bytes} bytes of {}", path.display()),
        None => path.display().to_string(),
    };
    expected.check(&what, Checksum::of(hasher), done)?;
    Ok(length)
}

/// Copies the first `length` bytes of `path` to the new file `target`, shared on disk where the file system can.
///
/// # Errors
/// One of them cannot be read or written, or the stage was cancelled.
pub fn copy_to_output(context: &Context, path: &Path, length: u64, target: &Path) -> Result<(), Failure> {
    context.activity("copying");
    let (file, _) = open(path)?;
    let mut new = File::create(target).map_err(|error| Failure::io("make", target, error))?;
    let mut done = 0;
    while done < length {
        context.check_cancelled()?;
        let mut step = (&file).take(STEP.min(length - done));
        match copy(&mut step, &mut new).map_err(|error| Failure::io("copy to", target, error))? {
            0 => return Err(Failure::input(format!("{} became shorter while it was read", path.display()))),
            copied => done += copied,
        }
        context.progress(done, Some(length), "bytes");
    }
    Ok(())
}
