//! Whether a remote is one: its version stands there, written before all else.

use std::sync::PoisonError;
use std::time::Instant;

use bytes::Bytes;
use futures::StreamExt;
use tokio::time::timeout;

use super::client::{Client, Heard};
use super::fault::Fault;
use super::folder;
use super::layout::{FOLDERS, FORMAT, REMOTE_FORMAT};

impl Client {
    /// Whether it is a web server, which nobody can begin by a push.
    pub(super) fn is_web(&self) -> bool {
        self.folder.is_none() && self.multipart.is_none()
    }

    /// Whether anything of cwm is there. That it is, is asked once; that it is not was asked after `since`, for somebody may
    /// begin it meanwhile.
    ///
    /// # Errors
    /// It cannot be told, a newer cwm wrote it, or it is a web server that has nothing of cwm's.
    pub async fn has_format(&self, since: Instant) -> Result<bool, Fault> {
        let read = || async {
            if let Some(folder) = self.folder.as_ref().filter(|folder| !folder.is_dir()) {
                return Err(Fault::NotReached(format!("there is no folder {}; is it mounted?", folder.display())));
            }
            let bytes = match self.small(FORMAT, 64).await {
                Ok(bytes) => bytes,
                Err(Fault::NotThere) if self.is_web() => {
                    let what = "nothing of cwm's is there; its address is that of the folder which has the file";
                    return Err(Fault::Refused(format!("{what} `{FORMAT}`")));
                }
                Err(Fault::NotThere) if self.holds_something().await? => {
                    // Whoever begins it at this moment writes its version before all else.
                    match self.small(FORMAT, 64).await {
                        Err(Fault::NotThere) => return Err(self.lost_format()),
                        other => other?,
                    }
                }
                Err(Fault::NotThere) => return Ok(false),
                Err(fault) => return Err(fault),
            };
            match String::from_utf8_lossy(&bytes).trim().parse::<u32>() {
                Ok(REMOTE_FORMAT) => Ok(true),
                Ok(found) if found > REMOTE_FORMAT => {
                    Err(Fault::Refused(format!("it has format {found}, which a newer cwm wrote")))
                }
                _ => Err(Fault::Refused(format!("what stands there is not cwm's: its `{FORMAT}` is no version"))),
            }
        };
        let known = || match *self.format.lock().unwrap_or_else(PoisonError::into_inner) {
            Heard::There => Some(true),
            Heard::Not(when) if when >= since => Some(false),
            Heard::Not(_) | Heard::Nothing => None,
        };
        if let Some(known) = known() {
            return Ok(known);
        }
        // Many who want to know at once ask once.
        let _asking = self.asking_format.lock().await;
        if let Some(known) = known() {
            return Ok(known);
        }
        let began = Instant::now();
        let is_there = read().await?;
        *self.format.lock().unwrap_or_else(PoisonError::into_inner) =
            if is_there { Heard::There } else { Heard::Not(began) };
        Ok(is_there)
    }

    /// Whether there is content or a record, as far as that can be seen.
    async fn holds_something(&self) -> Result<bool, Fault> {
        if let Some(folder) = &self.folder {
            return Ok(FOLDERS.iter().any(|name| folder.join(name).is_dir()));
        }
        for name in FOLDERS {
            let mut listed = self.store.list(Some(&self.path(name)?));
            // Not everybody may list, and this is for a better word alone.
            if let Ok(Some(Ok(_))) = timeout(self.silence, listed.next()).await {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn lost_format(&self) -> Fault {
        let file = match &self.folder {
            Some(folder) => folder.join(FORMAT).display().to_string(),
            None => FORMAT.to_owned(),
        };
        Fault::Refused(format!(
            "it has content or records, and lacks its `{FORMAT}`: if a cwm as this one wrote them, put a file {file} there \
             that says {REMOTE_FORMAT}; else give the remote a place of its own"
        ))
    }

    /// Sees to it that the remote can be written: its version is there. That it was not, asked after `since`, still counts.
    ///
    /// # Errors
    /// It cannot be written, or is of a newer cwm.
    pub async fn prepare(&self, since: Instant) -> Result<(), Fault> {
        // Several results that go at once do not each begin it.
        let begin = || async {
            if let Some(folder) = &self.folder {
                folder::make(folder)?;
            }
            if !self.has_format(since).await? {
                self.put(FORMAT, Bytes::from(format!("{REMOTE_FORMAT}\n"))).await?;
                *self.format.lock().unwrap_or_else(PoisonError::into_inner) = Heard::There;
            }
            Ok(())
        };
        self.begun.get_or_try_init(begin).await.copied()
    }
}
