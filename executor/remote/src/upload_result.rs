//! Uploads a result to a remote: the files, then the lists of folders, then the record, then the index that names it.

use std::collections::BTreeMap;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};

use super::client::Client;
use super::error::{RemoteError, Result};
use super::index::{self, Index, result_of};
use super::layout;
use super::progress::TransferProgress;
use super::records::{index_of, record};
use super::result_bundle::{LocalObject, ResultBundle};
use super::transfer::TransferStats;
use cwm_core::{Digest, Key};
use cwm_store::Store;

/// Objects of one result that are uploaded at a time.
const CONCURRENT: usize = 8;

/// The number of times that an index is written while others write it, too.
const ROUNDS: usize = 20;

/// An upload to a remote.
#[derive(Clone, Copy)]
pub struct Upload<'a> {
    /// The remote.
    pub client: &'a Client,
    /// The store that holds the content.
    pub store: &'a Store,
    /// True if also what the remote has is uploaded.
    pub force: bool,
    /// The progress of the request.
    pub progress: &'a TransferProgress,
}

impl Upload<'_> {
    /// Uploads a result.
    ///
    /// # Errors
    /// The remote does not take it. What was sent stays, and is not sent again.
    pub async fn result(self, bundle: &ResultBundle) -> Result<TransferStats> {
        let (client, stats) = (self.client, self.objects(&bundle.objects).await?);
        // By force the index is made anew, of all records that are there and intact.
        let index = if self.force { Index::default() } else { index_or_none(client, &bundle.key).await? };
        // The same result of somebody else's stands for ours.
        if self.force || !index.values().any(|result| *result == bundle.result) {
            let digest = Digest::of(&bundle.record);
            client.put(&layout::record(&bundle.key, &digest), Bytes::from(bundle.record.clone())).await?;
            add_to_index(client, &bundle.key, index, digest, bundle.result).await?;
        }
        Ok(TransferStats { seconds: self.progress.seconds(), ..stats })
    }

    /// Uploads groups of objects, one group after the other.
    ///
    /// # Errors
    /// As [`Upload::result`].
    pub async fn objects(self, groups: &[BTreeMap<Digest, LocalObject>]) -> Result<TransferStats> {
        let objects = || groups.iter().flat_map(BTreeMap::values);
        self.progress.begin(objects().count() as u64, objects().map(|object| object.size).fold(0, u64::saturating_add));
        let mut stats = TransferStats::default();
        for group in groups {
            let mut uploads = stream::iter(group.values().cloned())
                .map(|object| async move { Ok::<_, RemoteError>(self.object(&object).await?.then_some(object.size)) })
                .buffer_unordered(CONCURRENT);
            while let Some(uploaded) = uploads.try_next().await? {
                stats.objects += u64::from(uploaded.is_some());
                stats.bytes += uploaded.unwrap_or(0);
            }
        }
        Ok(TransferStats { seconds: self.progress.seconds(), ..stats })
    }
}

/// Enters a record, which is there, into the index of its key, beside all others that are there: until the index names all that are
/// listed. Somebody else may write theirs meanwhile, without ours.
async fn add_to_index(client: &Client, key: &Key, mut current: Index, digest: Digest, result: Digest) -> Result<()> {
    for _ in 0..ROUNDS {
        let mut index = current.clone();
        index.insert(digest, result);
        let names = client.names(&layout::actions(key)).await?;
        for other in names.iter().filter_map(|name| layout::digest_of_record(name)) {
            if index.contains_key(&other) {
                continue;
            }
            match record(client, key, &other).await {
                Ok((found, _)) => drop(index.insert(other, result_of(&found.output_digests()))),
                // A file that is named like a record and is none stays out.
                Err(RemoteError::Invalid(_) | RemoteError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        if index == current {
            return Ok(());
        }
        client.put(&layout::index(key), Bytes::from(index::encode(&index))).await?;
        current = index_or_none(client, key).await?;
    }
    Err(RemoteError::Unreachable("other uploads keep changing the same index".to_owned()))
}

/// The index of a key; an empty one in place of one that is wrong, which is replaced.
async fn index_or_none(client: &Client, key: &Key) -> Result<Index> {
    match index_of(client, key).await {
        Err(RemoteError::Invalid(_)) => Ok(Index::default()),
        index => index,
    }
}
