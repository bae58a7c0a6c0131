//! What one attempt at an action works with.

use std::path::PathBuf;

use cwm_contract::Cancellation;

use super::ActionFile;
use super::streams::MessageWriter;
use super::terms::AttemptOptions;
use cwm_core::Registry;
use cwm_store::external_files::DigestCache;
use cwm_store::{KeyLock, Store, WorkFolder};

/// An attempt that is about to begin, under the lock of its key.
pub struct AttemptContext<'a> {
    pub registry: &'a Registry,
    pub store: Store,
    pub files: DigestCache,
    pub work: WorkFolder,
    /// Where its log is written: in the work folder, unless others read it elsewhere.
    pub log: PathBuf,
    pub action: ActionFile,
    pub lock: KeyLock,
    pub messages: &'a MessageWriter,
    pub cancellation: &'a Cancellation,
    pub terms: &'a AttemptOptions,
}
