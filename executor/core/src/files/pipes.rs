//! Pipes, terminals and open descriptors, which can be read only once, or only by this process.

use std::fs::File;
use std::io::IsTerminal;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::stat::Stat;
use crate::os;

/// Returns true if `path` is a pipe, a terminal or another device, or a descriptor of this process without a name.
pub fn is_stream(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_dir() && (!found.is_file() || is_descriptor(path)))
}

/// Returns true if `path` is a device that is no terminal, such as `/dev/zero`: it may have no end.
pub fn is_device(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.file_type().is_char_device())
        && !File::open(path).is_ok_and(|file| file.is_terminal())
}

/// Returns the lasting name of a plain file that `path` names as a descriptor of this process (`/dev/stdin`), if it has one.
pub fn path_of_descriptor(path: &Path) -> Option<PathBuf> {
    if !is_descriptor(path) {
        return None;
    }
    let name = std::fs::canonicalize(path).ok()?;
    // A file that was removed since may have left its name to another one.
    (!is_descriptor(&name) && Stat::of(&name).ok()? == Stat::of(path).ok()?).then_some(name)
}

fn is_descriptor(path: &Path) -> bool {
    let names = ["/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"];
    names.iter().any(|name| path.starts_with(name)) || os::is_in_descriptor_folder(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_files_and_folders_are_not_read_once() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(!is_stream(file.path()) && !is_stream(file.path().parent().unwrap()));
        assert!(is_stream(Path::new("/dev/null")) && is_device(Path::new("/dev/zero")));
        use std::os::fd::AsRawFd;
        let descriptor = PathBuf::from(format!("/dev/fd/{}", file.as_file().as_raw_fd()));
        assert_eq!(path_of_descriptor(&descriptor).unwrap(), std::fs::canonicalize(file.path()).unwrap());
        let (kept, _) = (file.reopen().unwrap(), file.close().unwrap());
        let descriptor = PathBuf::from(format!("/dev/fd/{}", kept.as_raw_fd()));
        assert!(path_of_descriptor(&descriptor).is_none() && is_stream(&descriptor));
    }
}
