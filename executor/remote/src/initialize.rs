//! The format file of a remote, which is written before all else.

use std::sync::atomic::Ordering;

use bytes::Bytes;

use super::client::Client;
use super::error::{RemoteError, Result};
use super::folder_writer;
use super::layout::{FORMAT, REMOTE_FORMAT};

impl Client {
    /// Returns true if the remote has the format file. A positive answer is final; others may initialize the remote at any time.
    ///
    /// # Errors
    /// It is not known, a newer cwm wrote it, or it is a web server that has nothing of cwm's.
    pub async fn has_format(&self) -> Result<bool> {
        if self.has_format.load(Ordering::Relaxed) {
            return Ok(true);
        }
        if let Some(folder) = self.location.folder.as_ref().filter(|folder| !folder.is_dir()) {
            return Err(RemoteError::Unreachable(format!("there is no folder {}; is it mounted?", folder.display())));
        }
        let bytes = match self.small(FORMAT, 64).await {
            Ok(bytes) => bytes,
            Err(RemoteError::NotFound) if self.backend.is_read_only => {
                let what = "nothing of cwm's is there; its address is that of the folder which has the file";
                return Err(RemoteError::Refused(format!("{what} `{FORMAT}`")));
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

    /// Makes the remote ready for writing. Returns a message if it held nothing of cwm's before.
    ///
    /// # Errors
    /// It cannot be written, or is of a newer cwm.
    pub async fn initialize(&self) -> Result<Option<String>> {
        // One of several uploads at once initializes it.
        let _initializing = self.initializing.lock().await;
        let made = match &self.location.folder {
            Some(folder) if folder_writer::create(folder)? => Some(folder),
            _ => None,
        };
        if self.has_format().await? {
            return Ok(None);
        }
        self.put(FORMAT, Bytes::from(format!("{REMOTE_FORMAT}\n"))).await?;
        self.has_format.store(true, Ordering::Relaxed);
        let name = &self.name;
        Ok(Some(match made {
            Some(folder) => format!("the remote `{name}` was not there: its folder {} was made", folder.display()),
            None => format!("the remote `{name}` held nothing of cwm's, and was initialized"),
        }))
    }
}
