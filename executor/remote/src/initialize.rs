//! The format file of a remote, which is written before all else.

use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures::StreamExt;
use tokio::time::timeout;

use super::client::Client;
use super::error::RemoteError;
use super::folder_writer;
use super::layout::{FOLDERS, FORMAT, REMOTE_FORMAT};

impl Client {
    /// True if the remote has the format file. A positive answer is final; others may initialize the remote at any time.
    ///
    /// # Errors
    /// It is not known, a newer cwm wrote it, or it is a web server that has nothing of cwm's.
    pub async fn has_format(&self) -> Result<bool, RemoteError> {
        if self.has_format.load(Ordering::Relaxed) {
            return Ok(true);
        }
        if let Some(folder) = self.folder.as_ref().filter(|folder| !folder.is_dir()) {
            let words = format!("there is no folder {}; is it mounted?", folder.display());
            return Err(RemoteError::Unreachable(words));
        }
        let bytes = match self.small(FORMAT, 64).await {
            Ok(bytes) => bytes,
            Err(RemoteError::NotFound) if self.is_web() => {
                let what = "nothing of cwm's is there; its address is that of the folder which has the file";
                return Err(RemoteError::Refused(format!("{what} `{FORMAT}`")));
            }
            Err(RemoteError::NotFound) if self.holds_content().await? => {
                // A process that initializes it at this moment writes its format before all else.
                match self.small(FORMAT, 64).await {
                    Err(RemoteError::NotFound) => return Err(self.lost_format()),
                    other => other?,
                }
            }
            Err(RemoteError::NotFound) => return Ok(false),
            Err(error) => return Err(error),
        };
        match String::from_utf8_lossy(&bytes).trim().parse::<u32>() {
            Ok(REMOTE_FORMAT) => {
                self.has_format.store(true, Ordering::Relaxed);
                Ok(true)
            }
            Ok(found) if found > REMOTE_FORMAT => {
                Err(RemoteError::Refused(format!("it has format {found}, which a newer cwm wrote")))
            }
            _ => Err(RemoteError::Refused(format!("what is there is not cwm's: its `{FORMAT}` is no version"))),
        }
    }

    /// True if there is content or a record, as far as it can be listed.
    async fn holds_content(&self) -> Result<bool, RemoteError> {
        if let Some(folder) = &self.folder {
            return Ok(FOLDERS.iter().any(|name| folder.join(name).is_dir()));
        }
        for name in FOLDERS {
            let mut listed = self.store.list(Some(&self.path(name)?));
            // Not everybody may list, and this only makes for a better message.
            if let Ok(Some(Ok(_))) = timeout(self.idle_timeout, listed.next()).await {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn lost_format(&self) -> RemoteError {
        let file = match &self.folder {
            Some(folder) => folder.join(FORMAT).display().to_string(),
            None => FORMAT.to_owned(),
        };
        RemoteError::Refused(format!(
            "it has content or records, and no `{FORMAT}`: if a cwm as this one wrote them, put a file {file} there \
             that says {REMOTE_FORMAT}; else give the remote a place of its own"
        ))
    }

    /// Makes the remote ready for writing, and returns whether this call wrote the format file.
    ///
    /// # Errors
    /// It cannot be written, or is of a newer cwm.
    pub async fn initialize(&self) -> Result<bool, RemoteError> {
        let is_new = AtomicBool::new(false);
        // Of several uploads at once, one initializes it.
        let write = || async {
            if let Some(folder) = &self.folder {
                folder_writer::create(folder)?;
            }
            if !self.has_format().await? {
                self.put(FORMAT, Bytes::from(format!("{REMOTE_FORMAT}\n"))).await?;
                self.has_format.store(true, Ordering::Relaxed);
                is_new.store(true, Ordering::Relaxed);
            }
            Ok::<(), RemoteError>(())
        };
        self.initialized.get_or_try_init(write).await?;
        Ok(is_new.into_inner())
    }
}
