//! One attempt at an action.

use std::path::PathBuf;

use cwm_contract::Stage;

use super::{ActionFile, ExecProcess};
use cwm_store::{DigestCache, KeyLock, Store, WorkFolder};

/// An attempt that is about to begin, under the lock of its key.
pub struct Attempt<'a> {
    pub process: ExecProcess<'a>,
    /// The stage; nothing for a command.
    pub stage: Option<&'a dyn Stage>,
    pub store: Store,
    pub digests: DigestCache,
    pub work: WorkFolder,
    /// The file of its log: in the work folder, unless others read it elsewhere.
    pub log: PathBuf,
    pub action: ActionFile,
    pub lock: KeyLock,
}
