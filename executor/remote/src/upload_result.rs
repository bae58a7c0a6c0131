//! Uploads a result to a remote: the files, then the lists of folders, then the record, then the index that names it.

use std::collections::BTreeSet;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};

use super::client::Client;
use super::error::RemoteError;
use super::index::{Index, result_of};
use super::layout;
use super::progress::TransferProgress;
use super::records::{index_of, record};
use super::result_bundle::{LocalObject, ResultBundle, UploadStats};
use super::upload_object::upload_object;
use cwm_core::{Digest, Key};
use cwm_store::Store;
use cwm_store::external_files::FileFingerprint;

/// Objects of one result that are uploaded at a time.
const CONCURRENT: usize = 8;

/// The number of times that an index is written while others write it, too.
const ROUNDS: usize = 20;

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
