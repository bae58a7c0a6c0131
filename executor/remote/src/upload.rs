//! One piece of content, from the store to a remote: large ones in parts, of which an interrupted upload is gone on with.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::multipart::{MultipartStore, PartId};
use object_store::{MultipartId, PutPayload};
use tokio::time::timeout;

use super::client::Client;
use super::fault::Fault;
use super::folder;
use super::layout;
use super::tally::Tally;
use cwm_core::digest::Digest;
use cwm_store::{Store, hash_own_file};

/// Up to this size it goes in one request.
const WHOLE: u64 = 16 << 20;

/// The least size of a part; of larger content they grow, since there are ten thousand at most.
const PART: u64 = 8 << 20;
const MOST_PARTS: u64 = 9000;

/// Parts of one piece of content at a time.
const AT_ONCE: usize = 4;

/// What is to go.
#[derive(Clone, Debug)]
pub struct Item {
    /// The content.
    pub digest: Digest,
    /// Its bytes.
    pub size: u64,
    /// Where it lies.
    pub path: PathBuf,
}

/// Sends content, unless the remote has it; whether it was sent. It is hashed first: what is damaged here does not go.
///
/// # Errors
/// The remote does not take it, or it is not what it should be.
pub async fn send(client: &Client, store: &Store, item: &Item, anew: bool, tally: &Tally) -> Result<bool, Fault> {
    let name = layout::object(&item.digest);
    // Equal content of several results goes once, also where all is sent anew.
    let mut turn = client.going.wait(&item.digest, anew).await;
    if (!anew || *turn.is_sent) && client.size(&name).await? == Some(item.size) {
        if let Some(folder) = &client.folder {
            folder::found(folder, &name, &item.digest);
        }
        tally.add(item.size);
        return Ok(false);
    }
    let (path, digest) = (item.path.clone(), item.digest);
    let hashed = tokio::task::spawn_blocking(move || hash_own_file(&path)).await;
    if hashed.map_err(|error| Fault::Here(error.to_string()))?? != digest {
        return Err(Fault::Here(format!(
            "{} is damaged here and was not pushed; `cwm verify` sets it aside",
            item.path.display()
        )));
    }
    if let Some(folder) = &client.folder {
        let (folder, from) = (folder.clone(), item.path.clone());
        let is_first = client.writes_beside(&name);
        let copied = tokio::task::spawn_blocking(move || {
            if is_first {
                folder::tidy(&folder, &name);
            }
            folder::copy(&folder, &name, digest, &from)
        });
        copied.await.map_err(|error| Fault::Here(error.to_string()))??;
        *turn.is_sent = true;
        tally.add(item.size);
        return Ok(true);
    }
    match &client.multipart {
        Some(multipart) if item.size > WHOLE => in_parts(client, multipart.as_ref(), store, &name, item, tally).await?,
        _ => {
            let bytes = here(std::fs::read(&item.path))?;
            client.put(&name, Bytes::from(bytes)).await?;
            tally.add(item.size);
        }
    }
    *turn.is_sent = true;
    Ok(true)
}

async fn in_parts(
    client: &Client,
    multipart: &dyn MultipartStore,
    store: &Store,
    name: &str,
    item: &Item,
    tally: &Tally,
) -> Result<(), Fault> {
    let place = client.path(name)?;
    let file = &here(File::open(&item.path))?;
    let part_size = PART.max(item.size.div_ceil(MOST_PARTS).next_multiple_of(1 << 20));
    let journal = journal_path(store, client, &item.digest);
    // A remote forgets an upload after a while: then it is begun once more.
    for attempt in 0..2 {
        let mut journal = Journal::open(&journal, part_size);
        let id = match journal.id.clone() {
            Some(id) => id,
            None => {
                let id: MultipartId = client
                    .patiently(|| {
                        let place = &place;
                        Box::pin(async move {
                            match timeout(client.limit(0), multipart.create_multipart(place)).await {
                                Ok(id) => Ok(id?),
                                Err(_) => Err(client.silent()),
                            }
                        })
                    })
                    .await?;
                journal.begin(&id, part_size);
                id
            }
        };
        let count = item.size.div_ceil(part_size) as usize;
        tally.add((journal.parts.len() as u64 * part_size).min(item.size));
        let open: Vec<usize> = (0..count).filter(|part| !journal.parts.contains_key(part)).collect();
        let (id_of, place_of) = (&id, &place);
        let mut going = stream::iter(open)
            .map(|part| async move {
                let from = part as u64 * part_size;
                let length = part_size.min(item.size - from);
                let sent: PartId = client
                    .patiently(|| {
                        Box::pin(async move {
                            // Not before it is its turn: a hundred parts may wait for that.
                            let mut bytes = vec![0; length as usize];
                            here(file.read_exact_at(&mut bytes, from))?;
                            let put = multipart.put_part(place_of, id_of, part, PutPayload::from(Bytes::from(bytes)));
                            match timeout(client.limit(length), put).await {
                                Ok(sent) => Ok(sent?),
                                Err(_) => Err(client.silent()),
                            }
                        })
                    })
                    .await?;
                Ok::<_, Fault>((part, sent, length))
            })
            .buffer_unordered(AT_ONCE);
        let sent = loop {
            match going.try_next().await {
                Ok(None) => break Ok(()),
                Ok(Some((part, sent, length))) => {
                    tally.add(length);
                    journal.sent(part, sent.content_id);
                }
                Err(fault) => break Err(fault),
            }
        };
        drop(going);
        let done = match sent {
            Ok(()) => complete(client, multipart, &place, &id, &journal, name, item.size).await,
            Err(fault) => Err(fault),
        };
        match done {
            Err(Fault::NotThere | Fault::Refused(_) | Fault::Denied { .. }) if attempt == 0 && journal.is_old => {
                journal.remove()
            }
            Ok(()) => {
                journal.remove();
                return Ok(());
            }
            Err(Fault::NotThere) => return Err(Fault::Refused("it does not know of the upload".to_owned())),
            Err(fault) => return Err(fault),
        }
    }
    Err(Fault::Refused("it does not know of the upload".to_owned()))
}

async fn complete(
    client: &Client,
    multipart: &dyn MultipartStore,
    place: &object_store::path::Path,
    id: &MultipartId,
    journal: &Journal,
    name: &str,
    size: u64,
) -> Result<(), Fault> {
    let parts: Vec<PartId> = journal.parts.values().map(|part| PartId { content_id: part.clone() }).collect();
    let completed = client.patiently(|| {
        let parts = parts.clone();
        Box::pin(async move {
            match timeout(client.limit(size), multipart.complete_multipart(place, id, parts)).await {
                Ok(done) => done.map(drop).map_err(Fault::from),
                Err(_) => Err(client.silent()),
            }
        })
    });
    match completed.await {
        // Its answer may have been lost, and the upload with its end; or somebody else sent the same meanwhile, which voids
        // our parts with Azure.
        Err(Fault::NotThere | Fault::Refused(_) | Fault::Denied { .. }) if client.size(name).await? == Some(size) => {
            Ok(())
        }
        other => other,
    }
}

/// Which parts of an upload are done, for whoever goes on with it: an aid, without which all of it is sent again. The first
/// line is `[id, bytes of a part]`, each further one `[part, what the remote calls it]`.
struct Journal {
    path: PathBuf,
    /// Nothing if another process has it, or it cannot be written.
    file: Option<File>,
    id: Option<MultipartId>,
    parts: BTreeMap<usize, String>,
    /// Whether an earlier attempt began it.
    is_old: bool,
}

impl Journal {
    fn open(path: &Path, part_size: u64) -> Journal {
        let mut journal =
            Journal { path: path.to_owned(), file: None, id: None, parts: BTreeMap::new(), is_old: false };
        let Ok(file) = File::options().read(true).append(true).create(true).open(path) else { return journal };
        if file.try_lock().is_err() {
            return journal;
        }
        let mut lines = BufReader::new(&file).lines().map_while(Result::ok);
        let first = lines.next().and_then(|line| serde_json::from_str::<(String, u64)>(&line).ok());
        if let Some((id, _)) = first.filter(|(_, size)| *size == part_size) {
            journal.id = Some(id);
            journal.is_old = true;
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

    fn sent(&mut self, part: usize, id: String) {
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

fn here<T>(result: std::io::Result<T>) -> Result<T, Fault> {
    result.map_err(|error| Fault::Here(format!("cannot read what is pushed: {error}")))
}
