//! A result, from the store to a remote: the files, then the lists of folders, then the record, then the index that names it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};

use super::client::Client;
use super::fault::Fault;
use super::folder;
use super::index::{Index, result_of};
use super::layout;
use super::records::{index_of, record};
use super::tally::{Listener, Tally};
use super::upload::{Item, send};
use cwm_core::digest::{Digest, Key};
use cwm_core::files::Result as StoreResult;
use cwm_store::outside::{Files, Snapshot};
use cwm_store::{ActionRecord, OutputShape, Store};

/// Content of one result that is sent at a time.
const AT_ONCE: usize = 8;

/// How often an index is written at most, while others write it too.
const ROUNDS: usize = 20;

/// A result, ready to go.
pub struct Parcel {
    key: Key,
    /// The record's bytes, as others get them.
    record: Vec<u8>,
    result: Digest,
    files: BTreeMap<Digest, Item>,
    /// Lists of folders: after the files.
    manifests: BTreeMap<Digest, Item>,
    /// Whether its files are in the store, and go along.
    pub has_files: bool,
}

impl Parcel {
    /// What goes of a result: its files only `with_files`, and if all of them are here.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn of(store: &Store, outside: &Files, result: &ActionRecord, with_files: bool) -> StoreResult<Parcel> {
        let mut parcel = Parcel {
            key: result.key,
            record: store.shared_record(result)?,
            result: result_of(&result.output_digests()),
            files: BTreeMap::new(),
            manifests: BTreeMap::new(),
            has_files: with_files && store.missing(result, outside)?.is_empty(),
        };
        if !parcel.has_files {
            return Ok(parcel);
        }
        let item = |digest: Digest, size: u64| Item { digest, size, path: store.object_path(&digest) };
        for output in result.outputs.values() {
            if output.shape == OutputShape::Folder {
                for file in store.manifest(&output.digest)?.files().values() {
                    parcel.files.insert(file.digest, item(file.digest, file.size));
                }
                let size = store.object_size(&output.digest)?.unwrap_or(0);
                parcel.manifests.insert(output.digest, item(output.digest, size));
            } else {
                // A file from outside goes as any: others do not have it where we do.
                let path = store.path_of(output, outside)?;
                parcel.files.insert(output.digest, Item { path, ..item(output.digest, output.size) });
            }
        }
        if let Some(log) = result.log
            && let Some(size) = store.object_size(&log)?
        {
            parcel.files.insert(log, item(log, size));
        }
        Ok(parcel)
    }

    /// Bytes of all that may have to go.
    fn bytes(&self) -> u64 {
        self.files.values().chain(self.manifests.values()).map(|item| item.size).fold(0, u64::saturating_add)
    }

    /// Pieces of content.
    fn objects(&self) -> u64 {
        (self.files.len() + self.manifests.len()) as u64
    }
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    /// Pieces of content that were sent.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Pieces of content that were there.
    pub there: u64,
}

/// Sends what the remote lacks of a result; with `anew` all of it.
///
/// # Errors
/// The remote does not take it. What was sent stays, and is not sent again.
pub async fn push(
    client: &Client,
    store: &Store,
    parcel: &Parcel,
    anew: bool,
    begun: impl Fn(u64, u64),
    listener: Listener,
) -> Result<Pushed, Fault> {
    client.prepare(Instant::now()).await?;
    begun(parcel.objects(), parcel.bytes());
    let tally = &Tally::of(parcel.bytes(), listener);
    let mut pushed = Pushed::default();
    for items in [&parcel.files, &parcel.manifests] {
        let items: Vec<Item> = items.values().cloned().collect();
        let mut going = stream::iter(items)
            .map(|item| async move { Ok::<_, Fault>((item.size, send(client, store, &item, anew, tally).await?)) })
            .buffer_unordered(AT_ONCE);
        while let Some((size, sent)) = going.try_next().await? {
            pushed.objects += u64::from(sent);
            pushed.there += u64::from(!sent);
            pushed.bytes += if sent { size } else { 0 };
        }
    }
    let index = match index_of(client, &parcel.key).await {
        // Made anew of what is there.
        Err(Fault::Bad(_)) => Index::default(),
        other => other?,
    };
    let digest = Digest::of(&parcel.record);
    let name = layout::record(&parcel.key, &digest);
    // The same result of somebody else's stands for ours.
    if index.has_result(&parcel.result) && !anew {
        if let Some(folder) = &client.folder {
            folder::found(folder, &name, &digest);
        }
        return Ok(pushed);
    }
    if let Some(folder) = client.folder.as_ref().filter(|_| client.writes_beside(&name)) {
        folder::tidy(folder, &name);
    }
    client.put(&name, Bytes::from(parcel.record.clone())).await?;
    enter(client, &parcel.key, index, digest, parcel.result).await?;
    Ok(pushed)
}

/// Sends a file from outside, as content that no record names.
///
/// # Errors
/// As [`push`].
pub async fn push_file(
    client: &Client,
    store: &Store,
    file: &Snapshot,
    begun: impl Fn(u64, u64),
    listener: Listener,
) -> Result<Pushed, Fault> {
    client.prepare(Instant::now()).await?;
    let item = Item { digest: file.digest, size: file.stat.size, path: file.path.clone() };
    begun(1, item.size);
    let sent = send(client, store, &item, false, &Tally::of(item.size, listener)).await?;
    let (objects, bytes) = if sent { (1, item.size) } else { (0, 0) };
    Ok(Pushed { objects, bytes, there: u64::from(!sent) })
}

/// Enters a record, which is there, into the index of its key, beside all others that are there.
async fn enter(client: &Client, key: &Key, mut index: Index, digest: Digest, result: Digest) -> Result<(), Fault> {
    index.records.insert(digest, result);
    // What is named like a record and is none: it cannot be used, and stays out.
    let mut spoilt = BTreeSet::new();
    for _ in 0..ROUNDS {
        for other in index.lacks(&listed(client, key).await?).difference(&spoilt.clone()) {
            match record(client, key, other).await {
                Ok((found, _)) => drop(index.records.insert(*other, result_of(&found.output_digests()))),
                Err(Fault::Bad(_) | Fault::NotThere) => drop(spoilt.insert(*other)),
                Err(fault) => return Err(fault),
            }
        }
        client.put(&layout::index(key), Bytes::from(index.encode())).await?;
        // Somebody else may have written theirs meanwhile, without ours; or a record of which nobody's index knows.
        let standing = match index_of(client, key).await {
            Err(Fault::Bad(_)) => Index::default(),
            other => other?,
        };
        let is_whole = index.records.keys().all(|record| standing.records.contains_key(record));
        if is_whole && standing.lacks(&listed(client, key).await?).is_subset(&spoilt) {
            return Ok(());
        }
        // Where they say another thing of a record, what was read here is right.
        for (record, result) in standing.records {
            index.records.entry(record).or_insert(result);
        }
    }
    Err(Fault::NotReached("others write the same index without end".to_owned()))
}

async fn listed(client: &Client, key: &Key) -> Result<BTreeSet<Digest>, Fault> {
    let names = client.names(&layout::actions(key)).await?;
    Ok(names.iter().filter_map(|name| layout::digest_of_record(name)).collect())
}
