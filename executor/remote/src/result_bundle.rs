//! A result with all that an upload needs of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::index::result_of;
use cwm_core::files::Result as StoreResult;
use cwm_core::{Digest, Key};
use cwm_store::{ActionRecord, DigestCache, OutputShape, Store};

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
    /// Files, and then the lists of folders, which are uploaded after them.
    pub(super) objects: [BTreeMap<Digest, LocalObject>; 2],
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
        digests: &DigestCache,
        result: &ActionRecord,
        with_files: bool,
    ) -> StoreResult<ResultBundle> {
        let has_files = with_files && store.missing(result, digests)?.is_empty();
        let (mut files, mut manifests) = (BTreeMap::new(), BTreeMap::new());
        let item = |digest: Digest, size: u64| LocalObject { digest, size, path: store.object_path(&digest) };
        for output in result.outputs.values().filter(|_| has_files) {
            if output.shape == OutputShape::Folder {
                let manifest = store.manifest(&output.digest)?;
                files.extend(manifest.files().values().map(|file| (file.digest, item(file.digest, file.size))));
                let size = store.object_size(&output.digest)?.unwrap_or(0);
                manifests.insert(output.digest, item(output.digest, size));
            } else {
                // An external file goes as any: others do not have it where we do.
                let path = store.path_of(output, digests)?;
                files.insert(output.digest, LocalObject { path, ..item(output.digest, output.size) });
            }
        }
        if let Some(log) = result.log.filter(|_| has_files)
            && let Some(size) = store.object_size(&log)?
        {
            files.insert(log, item(log, size));
        }
        let record = store.shared_record(result)?;
        let (key, result) = (result.key, result_of(&result.output_digests()));
        Ok(ResultBundle { key, record, result, objects: [files, manifests], has_files })
    }
}
