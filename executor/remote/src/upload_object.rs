//! Uploads one object to a remote. A large one goes in parts, and an upload that was interrupted is resumed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::multipart::{MultipartStore, PartId};
use object_store::{MultipartId, PutPayload};

use super::client::Client;
use super::error::RemoteError;
use super::folder_writer;
use super::layout;
use super::progress::TransferProgress;
use super::result_bundle::LocalObject;
use cwm_core::Digest;
use cwm_store::{Store, hash_own_file};

/// Up to this size an object goes in one request.
const MAX_SINGLE_PUT: u64 = 16 << 20;

/// The least size of a part; of larger content they grow, since there are ten thousand at most.
const MIN_PART: u64 = 8 << 20;
const MAX_PARTS: u64 = 9000;

/// Parts of one object at a time.
const CONCURRENT: usize = 4;

/// Uploads an object unless the remote has it, and returns whether it did. The object is hashed first: a damaged one is not
/// uploaded.
///
/// # Errors
/// The remote does not take it, or it is not what it should be.
pub async fn upload_object(
    client: &Client,
    store: &Store,
    object: &LocalObject,
    force: bool,
    progress: &TransferProgress,
) -> Result<bool, RemoteError> {
    let name = layout::object(&object.digest);
    // Several results may contain the same object: it is uploaded once, also by force.
    let mut is_uploaded = client.upload_lock(&object.digest).await;
    if (!force || *is_uploaded) && client.size(&name).await? == Some(object.size) {
        progress.add(object.size);
        return Ok(false);
    }
    let (path, digest) = (object.path.clone(), object.digest);
    let hashed = tokio::task::spawn_blocking(move || hash_own_file(&path)).await;
    if hashed.map_err(|error| RemoteError::Local(error.to_string()))?? != digest {
        return Err(RemoteError::Local(format!(
            "{} is damaged here and was not pushed; `cwm verify` sets it aside",
            object.path.display()
        )));
    }
    if let Some(folder) = &client.folder {
        let (folder, from) = (folder.clone(), object.path.clone());
        let copied = tokio::task::spawn_blocking(move || folder_writer::copy(&folder, &name, digest, &from));
        copied.await.map_err(|error| RemoteError::Local(error.to_string()))??;
        *is_uploaded = true;
        progress.add(object.size);
        return Ok(true);
    }
    match &client.multipart {
        Some(multipart) if object.size > MAX_SINGLE_PUT => {
            upload_in_parts(client, multipart.as_ref(), store, &name, object, progress).await?
        }
        _ => {
            let bytes = local(std::fs::read(&object.path))?;
            client.put(&name, Bytes::from(bytes)).await?;
            progress.add(object.size);
        }
    }
    *is_uploaded = true;
    Ok(true)
}

/// Uploads an object in parts, and resumes an upload that was interrupted.
async fn upload_in_parts(
    client: &Client,
    multipart: &dyn MultipartStore,
    store: &Store,
    name: &str,
    object: &LocalObject,
    progress: &TransferProgress,
) -> Result<(), RemoteError> {
    let path = client.path(name)?;
    let file = &local(File::open(&object.path))?;
    let part_size = MIN_PART.max(object.size.div_ceil(MAX_PARTS).next_multiple_of(1 << 20));
    let journal_path = journal_path(store, client, &object.digest);
    let mut journal = Journal::open(&journal_path, part_size);
    let id = match journal.id.clone() {
        Some(id) => id,
        None => {
            let create = || -> BoxFuture<'_, _> { Box::pin(client.request(0, multipart.create_multipart(&path))) };
            let id = client.retry_broken_answer(create).await?;
            journal.begin(&id, part_size);
            id
        }
    };
    let count = object.size.div_ceil(part_size) as usize;
    progress.add((journal.parts.len() as u64 * part_size).min(object.size));
    let open: Vec<usize> = (0..count).filter(|part| !journal.parts.contains_key(part)).collect();
    let (id_of, path_of) = (&id, &path);
    let mut uploads = stream::iter(open)
        .map(|part| async move {
            let from = part as u64 * part_size;
            let length = part_size.min(object.size - from);
            let put = async {
                // Not before it is its turn: a hundred parts may wait for that.
                let mut bytes = vec![0; length as usize];
                if let Err(error) = file.read_exact_at(&mut bytes, from) {
                    return Ok(Err(error));
                }
                let payload = PutPayload::from(Bytes::from(bytes));
                multipart.put_part(path_of, id_of, part, payload).await.map(Ok)
            };
            let uploaded: PartId = local(client.request(length, put).await?)?;
            Ok::<_, RemoteError>((part, uploaded, length))
        })
        .buffer_unordered(CONCURRENT);
    let uploaded = loop {
        match uploads.try_next().await {
            Ok(None) => break Ok(()),
            Ok(Some((part, uploaded, length))) => {
                progress.add(length);
                journal.add(part, uploaded.content_id);
            }
            Err(error) => break Err(error),
        }
    };
    drop(uploads);
    let done = match uploaded {
        Ok(()) => complete(client, multipart, &path, &id, &journal, name, object.size).await,
        Err(error) => Err(error),
    };
    // A remote forgets an upload after a while: the next push begins another.
    if matches!(done, Ok(()) | Err(RemoteError::NotFound | RemoteError::Refused(_))) {
        journal.remove();
    }
    done.map_err(|error| match error {
        RemoteError::NotFound => RemoteError::Refused(
            "it does not have the upload that was interrupted; another `cwm push` begins it anew".to_owned(),
        ),
        error => error,
    })
}

async fn complete(
    client: &Client,
    multipart: &dyn MultipartStore,
    path: &object_store::path::Path,
    id: &MultipartId,
    journal: &Journal,
    name: &str,
    size: u64,
) -> Result<(), RemoteError> {
    let parts: Vec<PartId> = journal.parts.values().map(|part| PartId { content_id: part.clone() }).collect();
    let complete = || -> BoxFuture<'_, _> {
        Box::pin(client.request(size, multipart.complete_multipart(path, id, parts.clone())))
    };
    match client.retry_broken_answer(complete).await {
        // The answer to an earlier attempt may have been lost; or somebody else uploaded the same meanwhile, which voids our
        // parts with Azure.
        Err(RemoteError::NotFound | RemoteError::Refused(_) | RemoteError::Denied { .. })
            if client.size(name).await? == Some(size) =>
        {
            Ok(())
        }
        outcome => outcome.map(drop),
    }
}

/// The parts of an upload that are done, for the next attempt. Without it all parts are uploaded again. The first
/// line is `[id, bytes of a part]`, each further one `[part, what the remote calls it]`.
struct Journal {
    path: PathBuf,
    /// Nothing if another process has it, or it cannot be written.
    file: Option<File>,
    id: Option<MultipartId>,
    parts: BTreeMap<usize, String>,
}

impl Journal {
    fn open(path: &Path, part_size: u64) -> Journal {
        let mut journal = Journal { path: path.to_owned(), file: None, id: None, parts: BTreeMap::new() };
        let Ok(file) = File::options().read(true).append(true).create(true).open(path) else { return journal };
        if file.try_lock().is_err() {
            return journal;
        }
        let mut lines = BufReader::new(&file).lines().map_while(Result::ok);
        let first = lines.next().and_then(|line| serde_json::from_str::<(String, u64)>(&line).ok());
        if let Some((id, _)) = first.filter(|(_, size)| *size == part_size) {
            journal.id = Some(id);
            journal.parts = lines.map_while(|line| serde_json::from_str::<(usize, String)>(&line).ok()).collect();
        }
        journal.file = Some(file);
        journal
    }

    fn begin(&mut self, id: &str, part_size: u64) {
        if let Some(file) = &self.file {
            // A line that was half written before would spoil what comes behind it.
            let _ = file.set_len(0);
        }
        self.write(&(id, part_size));
    }

    fn add(&mut self, part: usize, id: String) {
        self.write(&(part, &id));
        self.parts.insert(part, id);
    }

    fn write(&mut self, line: &impl serde::Serialize) {
        let Some(file) = &mut self.file else { return };
        let line = serde_json::to_string(line).map(|line| line + "\n").unwrap_or_default();
        if file.write_all(line.as_bytes()).is_err() {
            self.file = None;
        }
    }

    fn remove(&self) {
        if self.file.is_some() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn journal_path(store: &Store, client: &Client, digest: &Digest) -> PathBuf {
    let whose = Digest::of(format!("{} {}", client.name, client.prefix).as_bytes()).to_string();
    store.upload_path(&whose[..8], digest)
}

fn local<T>(result: std::io::Result<T>) -> Result<T, RemoteError> {
    result.map_err(|error| RemoteError::Local(format!("cannot read what is pushed: {error}")))
}
