//! A result with all that an upload needs of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::index::result_of;
use cwm_core::files::Result as StoreResult;
use cwm_core::{Digest, Key};
use cwm_store::external_files::DigestCache;
use cwm_store::{ActionRecord, OutputShape, Store};

/// An object to upload.
#[derive(Clone, Debug)]
pub struct LocalObject {
    /// Its digest.
    pub digest: Digest,
    /// Its size.
    pub size: u64,
    /// Its file.
    pub path: PathBuf,
}

/// A result with all that is uploaded of it.
pub struct ResultBundle {
    pub(super) key: Key,
    /// The record's bytes, as others get them.
    pub(super) record: Vec<u8>,
    pub(super) result: Digest,
    pub(super) files: BTreeMap<Digest, LocalObject>,
    /// Lists of folders: after the files.
    pub(super) manifests: BTreeMap<Digest, LocalObject>,
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
