//! Uploads a result to a remote: the files, then the lists of folders, then the record, then the index that names it.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};

use super::client::Client;
use super::error::RemoteError;
use super::index::{Index, result_of};
use super::layout;
use super::progress::TransferProgress;
use super::records::{index_of, record};
use super::upload_object::{LocalObject, upload_object};
use cwm_core::files::Result as StoreResult;
use cwm_core::{Digest, Key};
use cwm_store::external_files::{DigestCache, FileFingerprint};
use cwm_store::{ActionRecord, OutputShape, Store};

/// Objects of one result that are uploaded at a time.
const CONCURRENT: usize = 8;

/// The number of times that an index is written while others write it, too.
const ROUNDS: usize = 20;

/// A result with all that is uploaded of it.
pub struct ResultBundle {
    key: Key,
    /// The record's bytes, as others get them.
    record: Vec<u8>,
    result: Digest,
    files: BTreeMap<Digest, LocalObject>,
    /// Lists of folders: after the files.
    manifests: BTreeMap<Digest, LocalObject>,
    /// True if its files are in the store, and go along.
    pub has_files: bool,
}

impl ResultBundle {
    /// Collects a result. Its files are part of it only `with_files`, and if all of them are here.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn of(
        store: &Store,
        outside: &DigestCache,
        result: &ActionRecord,
        with_files: bool,
    ) -> StoreResult<ResultBundle> {
        let mut bundle = ResultBundle {
            key: result.key,
            record: store.shared_record(result)?,
            result: result_of(&result.output_digests()),
            files: BTreeMap::new(),
            manifests: BTreeMap::new(),
            has_files: with_files && store.missing(result, outside)?.is_empty(),
        };
        if !bundle.has_files {
            return Ok(bundle);
        }
        let item = |digest: Digest, size: u64| LocalObject { digest, size, path: store.object_path(&digest) };
        for output in result.outputs.values() {
            if output.shape == OutputShape::Folder {
                for file in store.manifest(&output.digest)?.files().values() {
                    bundle.files.insert(file.digest, item(file.digest, file.size));
                }
                let size = store.object_size(&output.digest)?.unwrap_or(0);
                bundle.manifests.insert(output.digest, item(output.digest, size));
            } else {
                // A file from outside goes as any: others do not have it where we do.
                let path = store.path_of(output, outside)?;
                bundle.files.insert(output.digest, LocalObject { path, ..item(output.digest, output.size) });
            }
        }
        if let Some(log) = result.log
            && let Some(size) = store.object_size(&log)?
        {
            bundle.files.insert(log, item(log, size));
        }
        Ok(bundle)
    }
}

/// The outcome of an upload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UploadStats {
    /// The number of objects that were uploaded.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The number of objects that the remote had.
    pub already_there: u64,
}

/// Uploads what the remote does not have of a result; with `force` all of it.
///
/// # Errors
/// The remote does not take it. What was sent stays, and is not sent again.
pub async fn upload_result(
    client: &Client,
    store: &Store,
    bundle: &ResultBundle,
    force: bool,
    progress: &TransferProgress,
) -> Result<UploadStats, RemoteError> {
    client.initialize().await?;
    let items = || bundle.files.values().chain(bundle.manifests.values());
    progress.begin(items().count() as u64, items().map(|item| item.size).fold(0, u64::saturating_add));
    let mut stats = UploadStats::default();
    for items in [&bundle.files, &bundle.manifests] {
        let items: Vec<LocalObject> = items.values().cloned().collect();
        let mut going = stream::iter(items)
            .map(|item| async move {
                Ok::<_, RemoteError>((item.size, upload_object(client, store, &item, force, progress).await?))
            })
            .buffer_unordered(CONCURRENT);
        while let Some((size, sent)) = going.try_next().await? {
            stats.objects += u64::from(sent);
            stats.already_there += u64::from(!sent);
            stats.bytes += if sent { size } else { 0 };
        }
    }
    let index = match index_of(client, &bundle.key).await {
        // Made force of what is there.
        Err(RemoteError::Invalid(_)) => Index::default(),
        other => other?,
    };
    let digest = Digest::of(&bundle.record);
    let name = layout::record(&bundle.key, &digest);
    // The same result of somebody else's stands for ours.
    if index.has_result(&bundle.result) && !force {
        return Ok(stats);
    }
    client.put(&name, Bytes::from(bundle.record.clone())).await?;
    enter(client, &bundle.key, index, digest, bundle.result).await?;
    Ok(stats)
}

/// Uploads an external file, as an object that no record names.
///
/// # Errors
/// As [`upload_result`].
pub async fn upload_file(
    client: &Client,
    store: &Store,
    file: &FileFingerprint,
    progress: &TransferProgress,
) -> Result<UploadStats, RemoteError> {
    client.initialize().await?;
    let item = LocalObject { digest: file.digest, size: file.stat.size, path: file.path.clone() };
    progress.begin(1, item.size);
    let sent = upload_object(client, store, &item, false, progress).await?;
    let (objects, bytes) = if sent { (1, item.size) } else { (0, 0) };
    Ok(UploadStats { objects, bytes, already_there: u64::from(!sent) })
}

/// Enters a record, which is there, into the index of its key, beside all others that are there.
async fn enter(
    client: &Client,
    key: &Key,
    mut index: Index,
    digest: Digest,
    result: Digest,
) -> Result<(), RemoteError> {
    index.records.insert(digest, result);
    // What is named like a record and is none: it cannot be used, and stays out.
    let mut invalid = BTreeSet::new();
    for _ in 0..ROUNDS {
        for other in index.missing(&listed(client, key).await?).difference(&invalid.clone()) {
            match record(client, key, other).await {
                Ok((found, _)) => drop(index.records.insert(*other, result_of(&found.output_digests()))),
                Err(RemoteError::Invalid(_) | RemoteError::NotFound) => drop(invalid.insert(*other)),
                Err(error) => return Err(error),
            }
        }
        client.put(&layout::index(key), Bytes::from(index.encode())).await?;
        // Somebody else may have written theirs meanwhile, without ours; or a record of which nobody's index knows.
        let standing = match index_of(client, key).await {
            Err(RemoteError::Invalid(_)) => Index::default(),
            other => other?,
        };
        let is_whole = index.records.keys().all(|record| standing.records.contains_key(record));
        if is_whole && standing.missing(&listed(client, key).await?).is_subset(&invalid) {
            return Ok(());
        }
        // Where they say another thing of a record, what was read here is right.
        for (record, result) in standing.records {
            index.records.entry(record).or_insert(result);
        }
    }
    Err(RemoteError::Unreachable("others write the same index without end".to_owned()))
}

async fn listed(client: &Client, key: &Key) -> Result<BTreeSet<Digest>, RemoteError> {
    let names = client.names(&layout::actions(key)).await?;
    Ok(names.iter().filter_map(|name| layout::digest_of_record(name)).collect())
}
