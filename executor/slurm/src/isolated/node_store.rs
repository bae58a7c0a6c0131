//! The store that an isolated job uses on its node.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use cwm_core::Error;
use cwm_core::files::allow_changes;
use cwm_store::Store;

/// A store of one job, or of all jobs of its node.
pub struct NodeStore {
    /// The store.
    pub store: Store,
    /// True if the next job finds it, too.
    pub is_persistent: bool,
    /// The folder that is removed with this value.
    temporary: Option<TempDir>,
}

/// Removes a temporary store, also folders that a stage left read-only.
impl Drop for NodeStore {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            allow_changes(temporary.path());
        }
    }
}

impl NodeStore {
    /// Opens the store in the folder `scratch` of this node; without one, makes one that is removed with this value.
    ///
    /// # Errors
    /// The folder is not known, cannot be written, or is that of the run's store.
    pub fn open(scratch: Option<&str>, home: &Store) -> Result<NodeStore, Error> {
        let Some(scratch) = scratch else {
            let temporary = tempfile::Builder::new().prefix("cwm-").tempdir();
            let below = std::env::temp_dir();
            let temporary = temporary.map_err(|error| {
                Error::io("make a folder below", &below, error)
                    .hint("it is created in $TMPDIR; `scratch` under [slurm] in cwm.toml names another place")
            })?;
            let store = created(&temporary.path().join("store"))?;
            return Ok(NodeStore { store, is_persistent: false, temporary: Some(temporary) });
        };
        let folder = expand_variables(scratch, |name| std::env::var(name).ok()).map_err(|what| {
            Error::system(format!("`scratch` under [slurm] in cwm.toml: {what}"))
                .hint("write an absolute path; `$NAME` in it stands for a variable of the environment that jobs have")
        })?;
        let store = created(&folder)?;
        let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if real(store.root()) == real(home.root()) {
            return Err(Error::system("`scratch` under [slurm] in cwm.toml is the run's own store")
                .hint("name a folder of the nodes, or leave `store = \"remote\"` out"));
        }
        Ok(NodeStore { store, is_persistent: true, temporary: None })
    }
}

fn created(folder: &Path) -> Result<Store, Error> {
    let store = Store::at(folder)?;
    store.create()?;
    Ok(store)
}

/// Replaces the variables that `text` names, `$NAME` or `${NAME}`.
///
/// # Errors
/// One is not set, or it is no absolute path then.
fn expand_variables(text: &str, value: impl Fn(&str) -> Option<String>) -> Result<PathBuf, String> {
    let mut path = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        path += before;
        let (name, behind) = match after.strip_prefix('{') {
            Some(braced) => braced.split_once('}').ok_or("a `${` has no `}`")?,
            None => {
                let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
                after.split_at(end)
            }
        };
        let found = value(name).filter(|value| !value.is_empty());
        path += &found.ok_or_else(|| format!("${name} is not set on this node"))?;
        rest = behind;
    }
    path += rest;
    match Path::new(&path).is_absolute() {
        true => Ok(path.into()),
        false => Err(format!("{path:?} is no absolute path")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_stand_for_what_they_are_on_the_node() {
        let value = |name: &str| match name {
            "USER" => Some("ada".to_owned()),
            "TMPDIR" => Some("/tmp/17".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        for (text, path) in [
            ("/local/cwm", Ok("/local/cwm")),
            ("/local/$USER/cwm", Ok("/local/ada/cwm")),
            ("/local/${USER}s/cwm", Ok("/local/adas/cwm")),
            ("$TMPDIR", Ok("/tmp/17")),
            ("/local/$NOBODY", Err("$NOBODY is not set on this node")),
            ("/local/$EMPTY/cwm", Err("$EMPTY is not set on this node")),
            ("/local/${USER", Err("a `${` has no `}`")),
            ("$USER/cwm", Err("\"ada/cwm\" is no absolute path")),
        ] {
            assert_eq!(expand_variables(text, value), path.map(PathBuf::from).map_err(str::to_owned), "{text}");
        }
    }

    #[test]
    fn a_store_of_a_jobs_own_goes_with_it_and_scratch_stays() {
        let folder = tempfile::tempdir().unwrap();
        let home = Store::at(&folder.path().join("home")).unwrap();
        home.create().unwrap();
        let own = NodeStore::open(None, &home).unwrap();
        let root = own.store.root().to_owned();
        assert!(root.join("format").is_file() && !own.is_persistent);
        drop(own);
        assert!(!root.exists());
        let scratch = folder.path().join("scratch");
        drop(NodeStore::open(Some(&scratch.display().to_string()), &home).unwrap());
        assert!(scratch.join("format").is_file());
        let refused = NodeStore::open(Some(&home.root().display().to_string()), &home).err().unwrap();
        assert!(refused.message.ends_with("is the run's own store"), "{}", refused.message);
    }
}
