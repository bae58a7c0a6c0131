//! Reads pipes into the store before a run, since they can be read only once.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;

use crate::event::{EventSink, EventSinks, RunEvent};
use cwm_core::files::is_stream;
use cwm_core::{Error, Result};
use cwm_pipeline::plan::Plan;
use cwm_store::{DigestCache, Store};

/// Reads every pipe that these cells name into the store, and replaces it in the plan by that file. The caller holds the store's
/// shared lock. A signal ends the process: nothing has been recorded yet.
///
/// # Errors
/// A pipe cannot be read, or the store cannot be written.
pub fn ingest_pipes(
    plan: &mut Plan,
    cells: &[usize],
    store: &Store,
    digests: &DigestCache,
    sinks: &mut EventSinks,
) -> Result<()> {
    let pipes: Vec<PathBuf> = plan.external_files(cells).into_keys().filter(|path| is_stream(path)).collect();
    let mut read = BTreeMap::new();
    for path in pipes {
        sinks.event(&RunEvent::Reading { path: path.clone() });
        let mut pipe = File::open(&path).map_err(|error| Error::io("open", &path, error))?;
        let (digest, bytes) = store.ingest(&path, &mut pipe)?;
        let object = store.object_path(&digest);
        // It was hashed while it was read, and is read-only.
        digests.insert(&object, digest)?;
        sinks.event(&RunEvent::Read { path: path.clone(), digest, bytes });
        read.insert(path, object);
    }
    plan.replace_files(&read);
    Ok(())
}
