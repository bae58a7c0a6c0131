//! Reading files that somebody may have replaced by a pipe, a device or a folder.

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::files::FileError;

/// Returns the bytes of a plain file. Without this, a pipe would be waited for and a device read without end.
///
/// # Errors
/// It is something else ([`io::ErrorKind::InvalidData`]), or cannot be read.
pub fn read_regular_file(path: &Path) -> io::Result<Vec<u8>> {
    let not_plain = || io::Error::new(io::ErrorKind::InvalidData, "it is not a plain file");
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path);
    // A socket cannot even be opened, with an error that depends on the system.
    let is_special = || fs::metadata(path).is_ok_and(|found| !found.is_file());
    let mut file = opened.map_err(|error| if is_special() { not_plain() } else { error })?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(not_plain());
    }
    let mut bytes = Vec::with_capacity(metadata.len().min(1 << 20) as usize);
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads the text of a file that cwm keeps beside a pipeline, and writes anew; nothing if it is not there.
///
/// # Errors
/// It is no plain file, or a link to nothing, which would be replaced; or it cannot be read.
pub fn read_project_file(path: &Path) -> Result<Option<String>, FileError> {
    match read_regular_file(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(path) {
            Ok(target) => {
                let what = format!("is a link to {}, which is not there", target.display());
                Err(FileError::rejected(path, what, "put back what it links to, or remove the link"))
            }
            Err(_) => Ok(None),
        },
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            let hint = "cwm keeps a plain file, or a link to one, under this name: move away what is there";
            Err(FileError::rejected(path, "cannot be read: it is not a plain file", hint))
        }
        Err(error) => Err(FileError::io("read", path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::error::Error;
    use crate::exit_code::ExitCode;

    #[test]
    fn what_would_be_replaced_is_refused_in_words() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.lock");
        assert_eq!(read_project_file(&path).unwrap(), None);
        let refused = || {
            let error = Error::from(read_project_file(&path).unwrap_err());
            assert!(error.exit_code() == ExitCode::STORE && error.hints.len() == 1, "{error:?}");
            fs::remove_file(&path).unwrap();
            error.message
        };
        let _socket = UnixListener::bind(&path).unwrap();
        assert!(refused().ends_with("x.lock cannot be read: it is not a plain file"));
        symlink("elsewhere", &path).unwrap();
        assert!(refused().ends_with("x.lock is a link to elsewhere, which is not there"));
        // Or to itself.
        symlink("x.lock", &path).unwrap();
        assert!(read_project_file(&path).is_err());
        fs::remove_file(&path).unwrap();
        fs::write(folder.path().join("elsewhere"), "text").unwrap();
        symlink("elsewhere", &path).unwrap();
        assert_eq!(read_project_file(&path).unwrap().as_deref(), Some("text"));
    }
}
