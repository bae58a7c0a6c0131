//! The records that a remote has of a key.

use futures::{StreamExt, stream};

use super::client::Client;
use super::error::RemoteError;
use super::index::{self, Index, result_of};
use super::layout;
use cwm_core::{Digest, Key};
use cwm_store::{ActionRecord, LARGEST_RECORD, check_record};

/// More results of one key than this nobody has.
const MAX_RECORDS: usize = 1000;

/// The records that a remote has of a key.
#[derive(Default)]
pub struct FoundRecords {
    /// Records with their bytes.
    pub records: Vec<(ActionRecord, Vec<u8>)>,
    /// The faults of others.
    pub invalid: Vec<String>,
}

/// The index of a key; an empty one where there is none.
///
/// # Errors
/// It does not come, or is wrong.
pub async fn index_of(client: &Client, key: &Key) -> Result<Index, RemoteError> {
    match client.small(&layout::index(key), index::LARGEST).await {
        Ok(bytes) => {
            Index::decode(&bytes).map_err(|what| RemoteError::Invalid(format!("the index of {} {what}", key.short())))
        }
        Err(RemoteError::NotFound) => Ok(Index::default()),
        Err(error) => Err(error),
    }
}

/// One record, checked.
///
/// # Errors
/// It is not there, does not come, or is not what it should be.
pub async fn record(client: &Client, key: &Key, digest: &Digest) -> Result<(ActionRecord, Vec<u8>), RemoteError> {
    let bytes = client.small(&layout::record(key, digest), LARGEST_RECORD).await?;
    let about = |what: &str| {
        RemoteError::Invalid(format!("the record {} of {} {what}", &digest.to_string()[..12], key.short()))
    };
    if Digest::of(&bytes) != *digest {
        return Err(about("does not have the digest that names it"));
    }
    let record = check_record(key, &bytes).map_err(|what| about(&what))?;
    Ok((record, bytes))
}

/// All records of a key. What is wrong with one does not keep the others from being found.
///
/// # Errors
/// The remote does not answer, or refuses.
pub async fn list_records(client: &Client, key: &Key) -> Result<FoundRecords, RemoteError> {
    let mut found = FoundRecords::default();
    if !client.has_format().await? {
        return Ok(found);
    }
    let index = match index_of(client, key).await {
        Ok(index) => index,
        Err(RemoteError::Invalid(what)) => {
            found.invalid.push(what);
            return Ok(found);
        }
        Err(error) => return Err(error),
    };
    let listed: Vec<(Digest, Digest)> = index.records.into_iter().take(MAX_RECORDS).collect();
    let mut coming = stream::iter(listed)
        .map(|(digest, result)| async move { (digest, result, record(client, key, &digest).await) })
        .buffer_unordered(8);
    while let Some((digest, result, one)) = coming.next().await {
        match one {
            // `status --remote` reads the index alone, and must not see another result than a fetch does.
            Ok((record, _)) if result_of(&record.output_digests()) != result => found.invalid.push(format!(
                "the record {} of {} has another result than the index says; whoever has it mends that with `cwm push --force`",
                &digest.to_string()[..12],
                key.short()
            )),
            Ok(pair) => found.records.push(pair),
            Err(RemoteError::Invalid(what)) => found.invalid.push(what),
            Err(RemoteError::NotFound) => {
                found.invalid.push(format!("the record {} of {} is gone", &digest.to_string()[..12], key.short()));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}
