//! Files that are replaced in one step.

use std::fs::File;
use std::io;
use std::path::Path;

/// Replaces the file at `path` by what `write` writes, so that after a kill or a loss of power there is the old file or
/// the new one, whole. It is written under the name `temporary` in the same folder, which one process at a time may use.
///
/// # Errors
/// An operation on the disk fails. The file at `path` is then the old one, and `temporary` is removed so that it takes
/// no room.
pub fn write_atomically(
    path: &Path,
    temporary: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let written = File::create(temporary).and_then(|mut file| {
        write(&mut file)?;
        file.sync_all()
    });
    if let Err(error) = written.and_then(|()| std::fs::rename(temporary, path)) {
        // The error of the disk is the one to report.
        let _ = std::fs::remove_file(temporary);
        return Err(error);
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = std::env::temp_dir().join(format!("cwm-atomic-file-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (path, temporary) = (folder.join("file"), folder.join("file.new"));
        write_atomically(&path, &temporary, |file| file.write_all(b"old")).unwrap();
        let failed = write_atomically(&path, &temporary, |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("full"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "full");
        assert_eq!((std::fs::read(&path).unwrap(), temporary.exists()), (b"old".to_vec(), false));
        write_atomically(&path, &temporary, |file| file.write_all(b"new")).unwrap();
        assert_eq!((std::fs::read(&path).unwrap(), temporary.exists()), (b"new".to_vec(), false));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
