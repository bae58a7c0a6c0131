//! The records that a remote has of a key.

use futures::{StreamExt, stream};

use super::client::Client;
use super::error::{RemoteError, Result};
use super::index::{self, Index, result_of};
use super::layout;
use cwm_core::{Digest, Key};
use cwm_store::{ActionRecord, LARGEST_RECORD, check_record};

/// The most results of one key that are read.
const MAX_RECORDS: usize = 1000;

/// The records that a remote has of a key.
#[derive(Default)]
pub struct FoundRecords {
    /// Records with their bytes.
    pub records: Vec<(ActionRecord, Vec<u8>)>,
    /// The errors of others.
    pub invalid: Vec<RemoteError>,
}

/// Fetches the index of a key; an empty one if there is none.
///
/// # Errors
/// It does not come, or is wrong.
pub async fn index_of(client: &Client, key: &Key) -> Result<Index> {
    let bytes = RemoteError::optional(client.read_small(&layout::index(key), index::LARGEST).await)?;
    let fix = "`cwm push` from a store that has the result rewrites it";
    let invalid =
        || RemoteError::Invalid(format!("the index of {} is not in the format of this cwm; {fix}", key.short()));
    bytes.map_or(Ok(Index::default()), |bytes| index::decode(&bytes).ok_or_else(invalid))
}

/// Fetches one record, and checks it.
///
/// # Errors
/// It is not there, does not come, or is not what it should be.
pub async fn record(client: &Client, key: &Key, digest: &Digest) -> Result<(ActionRecord, Vec<u8>)> {
    let bytes = client.read_small(&layout::record(key, digest), LARGEST_RECORD).await?;
    if Digest::of(&bytes) != *digest {
        return Err(damaged(key, digest, "does not have the digest that names it"));
    }
    let record = check_record(key, &bytes).map_err(|what| invalid(key, digest, &what))?;
    Ok((record, bytes))
}

/// Fetches all records of a key. A faulty one does not hide the others.
///
/// # Errors
/// The remote does not answer, or refuses.
pub async fn list_records(client: &Client, key: &Key) -> Result<FoundRecords> {
    let mut found = FoundRecords::default();
    if !client.has_format().await? {
        return Ok(found);
    }
    let index = match index_of(client, key).await {
        Err(error @ RemoteError::Invalid(_)) => return Ok(FoundRecords { invalid: vec![error], ..found }),
        index => index?,
    };
    let listed: Vec<(Digest, Digest)> = index.into_iter().take(MAX_RECORDS).collect();
    let mut records = stream::iter(listed)
        .map(|(digest, result)| async move { (digest, result, record(client, key, &digest).await) })
        .buffer_unordered(8);
    while let Some((digest, result, one)) = records.next().await {
        match one {
            // A push relies on the results in the index.
            Ok((record, _)) if result_of(&record.output_digests()) != result => {
                found.invalid.push(damaged(key, &digest, "has another result than in the index"))
            }
            Ok(pair) => found.records.push(pair),
            Err(error @ RemoteError::Invalid(_)) => found.invalid.push(error),
            Err(RemoteError::NotFound) => found.invalid.push(damaged(key, &digest, "is missing")),
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

fn invalid(key: &Key, digest: &Digest, what: &str) -> RemoteError {
    RemoteError::Invalid(format!("the record {} of {} {what}", &digest.to_string()[..12], key.short()))
}

fn damaged(key: &Key, digest: &Digest, what: &str) -> RemoteError {
    invalid(key, digest, &format!("{what}; `push --force` from a store that has the result repairs it"))
}
