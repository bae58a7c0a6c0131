//! `cwm.toml`, beside the pipeline file: the settings of a project, which are not those of the pipeline. The store, the
//! remotes, the executor. Nothing in it enters a key, and it holds no credential.
//!
//! It depends on neither plans nor the network.

mod edit;
mod read;
mod slurm;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use edit::{NewRemote, add_remote, remove_remote};
pub use slurm::{SlurmConfig, StoreAccess};

use serde::{Deserialize, Serialize};

/// The executor that does the stages' work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExecutorKind {
    /// Processes on this machine.
    #[default]
    Local,
    /// Jobs of Slurm.
    Slurm,
}

/// The settings of `cwm.toml`; without such a file, nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProjectConfig {
    /// The absolute path of the store.
    pub store: Option<PathBuf>,
    /// The executor.
    pub executor: ExecutorKind,
    /// The remotes, in the order of the file.
    pub remotes: Vec<Remote>,
    /// The settings of jobs of Slurm.
    pub slurm: SlurmConfig,
}

/// A place in which results are shared. [`RemoteKinds`] define the kind of place that its URL names and the meaning of its
/// options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remote {
    /// Its name.
    pub name: String,
    /// Its URL or path, as written.
    pub url: String,
    /// The folder that a relative path is relative to.
    pub base: PathBuf,
    /// True if nothing is written to it: by its setting, or because its kind can only be read.
    pub read_only: bool,
    /// The keys that only some kinds of remotes have, such as `endpoint`.
    pub options: BTreeMap<String, String>,
    /// The silence after which it counts as unreachable.
    pub timeout: Duration,
}

/// The kinds of remotes that there are: `cwm_remote` has them, if it is built.
pub trait RemoteKinds {
    /// Checks the URL and the options of a remote.
    ///
    /// # Errors
    /// The problem with it.
    fn check(&self, remote: &Remote) -> Result<(), InvalidRemote>;

    /// Returns true if remotes with this URL can only be read.
    fn is_read_only(&self, url: &str) -> bool;

    /// The option keys of remotes with this URL; those of all kinds, if it is of none.
    fn option_keys(&self, url: &str) -> Vec<&'static str>;
}

/// The problem with a remote. It never repeats the value, which may hold a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidRemote {
    /// The key of the value that is wrong.
    pub key: &'static str,
    /// The problem.
    pub message: String,
    /// Advice to the user.
    pub hint: Option<String>,
}

/// A hint for people who write a credential into cwm.toml.
pub const WHERE_CREDENTIALS_ARE: &str =
    "cwm.toml is meant for git; put credentials into the environment or the usual files (docs/design/remotes.md)";

/// Returns true if a name is that of a credential; none of cwm's own keys is.
pub fn is_secret(name: &str) -> bool {
    let words = ["secret", "key", "token", "passw", "pwd", "credential", "auth", "sas", "sig"];
    let name = name.to_ascii_lowercase();
    words.iter().any(|word| name.contains(word))
}

impl ProjectConfig {
    /// The `cwm.toml` of the pipeline in `pipeline`.
    pub fn path_for(pipeline: &Path) -> PathBuf {
        pipeline.with_file_name("cwm.toml")
    }

    /// The remote of this name.
    pub fn remote(&self, name: &str) -> Option<&Remote> {
        self.remotes.iter().find(|remote| remote.name == name)
    }
}
