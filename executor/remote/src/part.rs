//! Part files in a folder that is a remote: named by their content, so that whoever is killed leaves one at most, which the
//! next push of that content goes on with and uses up.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use cwm_core::digest::Digest;

/// Begins their names: hidden, and no name of content or of a record.
pub(super) const PREFIX: &str = ".cwm-part-";

/// How long whoever waits for somebody else's part does so before he looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// How often a part may be another one, once it is locked, than stands there.
const ATTEMPTS: u32 = 100;

/// What is compared at a time.
const PIECE: usize = 256 << 10;

/// A part that this process alone writes.
pub struct Part {
    /// The file, with what an earlier attempt left in it.
    pub file: File,
    /// Where it is.
    pub path: PathBuf,
}

/// What became of asking for a part.
pub enum Asked {
    /// It may be written.
    Mine(Part),
    /// Somebody else had it, and gave it its name meanwhile.
    Placed,
    /// Somebody else has it and does not go on, or files cannot be locked there.
    Not,
}

/// The part in `folder` that is to become `place`. Waits for whoever writes it, while his file grows: `patience` is how long it
/// may be as it is.
///
/// # Errors
/// The disk refuses.
pub fn ask(folder: &Path, digest: &Digest, place: &Path, patience: Duration) -> io::Result<Asked> {
    let path = folder.join(format!("{PREFIX}{digest}"));
    let (mut size, mut grew) = (None, Instant::now());
    let mut attempts = 0;
    let mut theirs: Option<File> = None;
    let is_placed = |theirs: &Option<File>| theirs.as_ref().is_some_and(|file| is_at(file, place));
    loop {
        if is_placed(&theirs) {
            return Ok(Asked::Placed);
        }
        let file = match open(&path, true) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => match open(&path, false) {
                // Of somebody who was killed: whoever may write the folder may remove it.
                Ok(file) if file.try_lock().is_ok() && is_at(&file, &path) => match fs::remove_file(&path) {
                    Ok(()) => continue,
                    Err(_) => return Ok(Asked::Not),
                },
                Ok(file) => file,
                Err(other) if other.kind() == io::ErrorKind::NotFound && theirs.is_some() => continue,
                Err(_) => return Err(error),
            },
            // A link, which would lead out of the remote, a folder or a socket.
            Err(_) if fs::symlink_metadata(&path).is_ok_and(|there| !there.is_file()) => return Ok(Asked::Not),
            Err(error) => return Err(error),
        };
        // What others see there, too, is not ours to write.
        if !file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.nlink() <= 1) {
            return Ok(Asked::Not);
        }
        match file.try_lock() {
            Ok(()) if is_at(&file, place) => return Ok(Asked::Placed),
            Ok(()) if is_at(&file, &path) => {
                if !is_placed(&theirs) {
                    return Ok(Asked::Mine(Part { file, path }));
                }
                // He gave it its name just before this one was made.
                fs::remove_file(&path)?;
                return Ok(Asked::Placed);
            }
            // It was given its name and that was replaced, or it was removed; or files have no lasting numbers there.
            Ok(()) if attempts < ATTEMPTS => {
                attempts += 1;
                continue;
            }
            Ok(()) => return Ok(Asked::Not),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(_)) => {
                // Nobody can lock there, so that nobody goes on with it.
                if file.metadata().is_ok_and(|metadata| metadata.len() == 0) {
                    fs::remove_file(&path)?;
                }
                return Ok(Asked::Not);
            }
        }
        let now = file.metadata().ok().map(|metadata| metadata.len());
        if now != size {
            (size, grew) = (now, Instant::now());
        }
        if grew.elapsed() >= patience {
            return Ok(Asked::Not);
        }
        theirs = Some(file);
        sleep(LOOK_AGAIN);
    }
}

/// Opens a part: never what a link leads to, and without waiting for whoever has the other end of a pipe.
fn open(path: &Path, writing: bool) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = File::options();
    options.read(true).write(writing).create(writing).truncate(false).custom_flags(flags.bits() as i32);
    options.open(path)
}

impl Part {
    /// Brings both files to where it is to be gone on. What an earlier attempt left is read and compared, not trusted: from where
    /// it differs on it is thrown away.
    ///
    /// # Errors
    /// The disk refuses, or `from` cannot be read.
    pub fn go_on(&mut self, from: &mut (impl Read + Seek)) -> io::Result<()> {
        let same = self.same_as(from)?;
        self.file.set_len(same)?;
        self.file.seek(SeekFrom::Start(same))?;
        from.seek(SeekFrom::Start(same)).map(drop)
    }

    /// How many bytes from the beginning on are those of `from`.
    fn same_as(&mut self, from: &mut impl Read) -> io::Result<u64> {
        let (mut ours, mut theirs) = (vec![0; PIECE], vec![0; PIECE]);
        let mut same = 0;
        loop {
            let left = read_full(&mut self.file, &mut ours)?;
            let right = read_full(from, &mut theirs)?;
            let equal = ours[..left].iter().zip(&theirs[..right]).take_while(|(a, b)| a == b).count();
            same += equal as u64;
            if equal < PIECE {
                return Ok(same);
            }
        }
    }
}

fn read_full(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Whether `file` is what stands at `path`.
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(ours), Ok(there)) => there.is_file() && (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}
