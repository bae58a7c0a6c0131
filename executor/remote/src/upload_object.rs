//! Uploads one object to a remote. A large one goes in parts, and an upload that was interrupted is resumed.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::MultipartId;
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path;
use serde::{Deserialize, Serialize};

use super::error::{RemoteError, Result, blocking};
use super::folder_writer;
use super::layout;
use super::result_bundle::LocalObject;
use super::upload_result::Upload;
use cwm_core::{Digest, DurableFs};
use cwm_store::hash_own_file;

/// The size up to which an object is sent in one request.
const MAX_SINGLE_PUT: u64 = 16 << 20;

/// The least size of a part; of larger content they grow, since there are ten thousand at most.
const MIN_PART: u64 = 8 << 20;
const MAX_PARTS: u64 = 9000;

/// Parts of one object at a time.
const CONCURRENT: usize = 4;

/// The parts of an upload that are done, for the next attempt. Without it all parts are uploaded again.
#[derive(Serialize, Deserialize)]
struct Journal {
    id: MultipartId,
    part_size: u64,
    parts: BTreeMap<usize, String>,
}

impl Upload<'_> {
    /// Uploads an object unless the remote has it, and returns whether it did. The object is hashed first: a damaged one is not
    /// uploaded.
    ///
    /// # Errors
    /// The remote does not take it, or it is not what it should be.
    pub async fn object(self, object: &LocalObject) -> Result<bool> {
        let Upload { client, force, progress, .. } = self;
        let name = layout::object(&object.digest);
        // Several results may contain the same object: it is uploaded once, also by force.
        let mut is_uploaded = client.upload_lock(&object.digest).await;
        if (!force || *is_uploaded) && client.size(&name).await? == Some(object.size) {
            progress.add(object.size);
            return Ok(false);
        }
        let (path, digest) = (object.path.clone(), object.digest);
        if blocking(move || hash_own_file(&path)).await? != digest {
            return Err(RemoteError::Local(format!(
                "{} is damaged here and was not pushed; `cwm store verify` moves it to quarantine",
                object.path.display()
            )));
        }
        match (&client.location.folder, &client.location.multipart) {
            (Some(folder), _) => {
                let (folder, from) = (folder.clone(), object.path.clone());
                blocking(move || folder_writer::copy(&folder, &name, &digest, &from)).await?;
                progress.add(object.size);
            }
            (None, Some(multipart)) if object.size > MAX_SINGLE_PUT => {
                self.in_parts(multipart.as_ref(), &name, object).await?;
            }
            _ => {
                client.put(&name, Bytes::from(map_local(std::fs::read(&object.path))?)).await?;
                progress.add(object.size);
            }
        }
        *is_uploaded = true;
        Ok(true)
    }

    /// Uploads an object in parts, and resumes an upload that was interrupted.
    async fn in_parts(self, multipart: &dyn MultipartStore, name: &str, object: &LocalObject) -> Result<()> {
        let (client, size) = (self.client, object.size);
        let remote = Digest::of(format!("{} {}", client.name, client.location.prefix).as_bytes()).to_string();
        let journal_path = self.store.upload_path(&remote[..8], &object.digest);
        let uploaded = match self.parts(multipart, &client.path(name)?, object, &journal_path).await {
            // The answer to an earlier attempt was lost; or somebody else uploaded the same meanwhile, which voids our parts
            // with Azure.
            Err(RemoteError::NotFound | RemoteError::Unsupported(_) | RemoteError::AccessDenied(_))
                if !self.force && client.size(name).await? == Some(size) =>
            {
                Ok(())
            }
            // A remote forgets an upload after a while.
            Err(RemoteError::NotFound) => Err(RemoteError::Unsupported(
                "it does not have the upload that was interrupted; another `cwm push` starts it again".to_owned(),
            )),
            uploaded => uploaded,
        };
        if matches!(uploaded, Ok(()) | Err(RemoteError::Unsupported(_))) {
            let _ = std::fs::remove_file(&journal_path);
        }
        uploaded
    }

    /// Uploads the parts that are not in the journal, enters them there, and completes the upload.
    async fn parts(
        self,
        multipart: &dyn MultipartStore,
        to: &Path,
        object: &LocalObject,
        journal_path: &std::path::Path,
    ) -> Result<()> {
        let (client, size) = (self.client, object.size);
        let part_size = MIN_PART.max(size.div_ceil(MAX_PARTS).next_multiple_of(1 << 20));
        let file = &map_local(File::open(&object.path))?;
        let found = std::fs::read(journal_path).ok().and_then(|text| serde_json::from_slice::<Journal>(&text).ok());
        let mut journal = match found.filter(|journal| journal.part_size == part_size) {
            Some(journal) => journal,
            None => {
                let id = client.request(multipart.create_multipart(to)).await?;
                Journal { id, part_size, parts: BTreeMap::new() }
            }
        };
        self.progress.add((journal.parts.len() as u64 * part_size).min(size));
        let open: Vec<usize> =
            (0..size.div_ceil(part_size) as usize).filter(|part| !journal.parts.contains_key(part)).collect();
        let id = &journal.id.clone();
        let mut uploads = stream::iter(open)
            .map(|part| async move {
                let from = part as u64 * part_size;
                let length = part_size.min(size - from);
                let put = async {
                    // Not before it is its turn: a hundred parts may wait for that.
                    let mut bytes = vec![0; length as usize];
                    match file.read_exact_at(&mut bytes, from) {
                        Ok(()) => multipart.put_part(to, id, part, bytes.into()).await.map(Ok),
                        Err(error) => Ok(Err(error)),
                    }
                };
                let uploaded = map_local(client.request(put).await?)?;
                Ok::<_, RemoteError>((part, uploaded.content_id, length))
            })
            .buffer_unordered(CONCURRENT);
        while let Some((part, content_id, length)) = uploads.try_next().await? {
            self.progress.add(length);
            journal.parts.insert(part, content_id);
            // Several processes may upload the same content: the journal of the last one stays.
            let text = serde_json::to_vec(&journal).unwrap_or_default();
            let _ = DurableFs::default().replace_unsynced(journal_path, &text);
        }
        let parts = journal.parts.into_values().map(|content_id| PartId { content_id }).collect();
        client.request(multipart.complete_multipart(to, id, parts)).await.map(drop)
    }
}

fn map_local<T>(result: std::io::Result<T>) -> Result<T> {
    result.map_err(|error| RemoteError::Local(format!("cannot read a file to push: {error}")))
}
