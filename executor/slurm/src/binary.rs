//! The program that jobs run: a copy in the store, so that a rebuild changes nothing and every node has it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use cwm_core::{Digest, DurableFs, Error};
use cwm_store::{Store, hash_own_file};

/// Returns the folder of the copies.
pub fn folder(store: &Store) -> PathBuf {
    store.root().join("bin")
}

/// Returns the path of the copy with this digest.
pub fn path(store: &Store, digest: &Digest) -> PathBuf {
    folder(store).join(digest.to_string())
}

/// Keeps a copy of this very program, also if it was rebuilt since it was started. Returns its digest.
///
/// # Errors
/// The store cannot be written.
pub fn store_binary(store: &Store) -> Result<Digest, Error> {
    let own = cwm_core::os::current_exe();
    let digest = hash_own_file(&own)?;
    let place = path(store, &digest);
    if place.is_file() {
        return Ok(digest);
    }
    let disk = DurableFs::default();
    disk.make_folders(&folder(store))?;
    let (_, temporary) = disk.new_file(&folder(store))?;
    fs::copy(&own, temporary.path())
        .and_then(|_| fs::set_permissions(temporary.path(), Permissions::from_mode(0o555)))
        .map_err(|error| Error::io("copy this program from", &own, error))?;
    disk.sync(temporary.path())?;
    temporary.persist(&place)?;
    disk.sync(&folder(store))?;
    disk.sync(store.root())?;
    Ok(digest)
}
