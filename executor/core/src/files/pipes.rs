//! Pipes, terminals and open descriptors, which can be read only once, or only by this process.

use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::stat::Stat;
use crate::os;

/// Returns true if `path` is a pipe, a terminal or another device, or a descriptor of this process without a name.
pub fn is_stream(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_dir() && (!found.is_file() || is_descriptor(path)))
}

/// The lasting name of a plain file that `path` names as a descriptor of this process (`/dev/stdin`), if it has one.
pub fn lasting_name(path: &Path) -> Option<PathBuf> {
    if !is_descriptor(path) {
        return None;
    }
    let name = std::fs::canonicalize(path).ok()?;
    // A file that was removed since may have left its name to another one.
    (!is_descriptor(&name) && Stat::of(&name).ok()? == Stat::of(path).ok()?).then_some(name)
}

fn is_descriptor(path: &Path) -> bool {
    let streams = ["/dev/stdin", "/dev/stdout", "/dev/stderr"];
    os::DESCRIPTOR_FOLDERS.iter().any(|folder| path.starts_with(folder))
        || streams.iter().any(|stream| path == Path::new(stream))
}

/// Opens such a thing and reads it to its end, piece by piece, until `go_on` says no; then the error is
/// [`io::ErrorKind::Interrupted`]. `go_on` is called a few times a second, also while nothing comes.
///
/// # Errors
/// It cannot be opened or read, `take` refuses, or it was stopped.
pub fn read(
    path: &Path,
    go_on: &mut dyn FnMut() -> bool,
    take: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    // Without blocking, or opening a pipe that nobody writes to would wait where nothing can stop it.
    let file = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let wait = Timespec::try_from(Duration::from_millis(200)).map_err(io::Error::other)?;
    let mut piece = vec![0; 1 << 20];
    loop {
        if !go_on() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        match poll(&mut [PollFd::new(&file, PollFlags::IN)], Some(&wait)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        match io::Read::read(&mut &file, &mut piece) {
            Ok(0) => return Ok(()),
            Ok(read) => take(&piece[..read])?,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_pipe_is_read_to_its_end_and_can_be_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert!(is_stream(&path));
        // Nobody writes, and nobody waits for ever.
        let mut asked = 0;
        let stopped = read(
            &path,
            &mut || {
                asked += 1;
                asked < 2
            },
            &mut |_| Ok(()),
        );
        assert_eq!(stopped.unwrap_err().kind(), io::ErrorKind::Interrupted);
        let writer = path.clone();
        let written = std::thread::spawn(move || {
            let mut pipe = std::fs::OpenOptions::new().write(true).open(writer).unwrap();
            (0..2_000).for_each(|_| pipe.write_all(&[7; 1_000]).unwrap());
        });
        let mut length = 0;
        read(&path, &mut || true, &mut |piece| {
            length += piece.len();
            Ok(())
        })
        .unwrap();
        written.join().unwrap();
        assert_eq!(length, 2_000_000);
    }

    #[test]
    fn plain_files_and_folders_are_not_read_once() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(!is_stream(file.path()) && !is_stream(file.path().parent().unwrap()));
        assert!(is_stream(Path::new("/dev/null")));
        use std::os::fd::AsRawFd;
        let descriptor = PathBuf::from(format!("/dev/fd/{}", file.as_file().as_raw_fd()));
        assert_eq!(lasting_name(&descriptor).unwrap(), std::fs::canonicalize(file.path()).unwrap());
        let (kept, _) = (file.reopen().unwrap(), file.close().unwrap());
        let descriptor = PathBuf::from(format!("/dev/fd/{}", kept.as_raw_fd()));
        assert!(lasting_name(&descriptor).is_none() && is_stream(&descriptor));
    }
}
