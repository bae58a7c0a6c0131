//! External files of an isolated action. The node does not have them, so they are laid out below a temporary folder, under paths
//! that end in the same names.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use tempfile::TempDir;

use cwm_action::{ActionBody, ActionFile, Artifact, key_parameters};
use cwm_core::{Error, Registry, Stat};
use cwm_store::{FileFingerprint, OutputRecord, OutputShape, Store};

/// Returns all that an action reads, as content to pull, by a name for messages.
pub fn content(action: &ActionFile) -> BTreeMap<String, OutputRecord> {
    let mut content = BTreeMap::new();
    let mut add = |mut name: String, record: OutputRecord| {
        while content.contains_key(&name) {
            name.push('~');
        }
        content.insert(name, record);
    };
    for (name, group) in &action.inputs {
        for input in group {
            if let Artifact::Output(output) = &input.artifact {
                add(format!("{name} {}", input.label), OutputRecord { external: None, ..output.clone() });
            }
        }
    }
    for file in action.external_files() {
        let shape = OutputShape::File { extension: String::new() };
        let (digest, size, format) = (file.digest, file.stat.size, cwm_contract::Format::ANY);
        add(file.path.display().to_string(), OutputRecord { digest, size, shape, format, external: None });
    }
    content
}

/// The external files of one action, in a folder that is removed with this value.
pub struct StagedFiles {
    folder: TempDir,
}

impl StagedFiles {
    /// Lays out the files of an action whose content is in `store`.
    ///
    /// # Errors
    /// An operation on the disk fails.
    pub fn of(store: &Store, action: &ActionFile) -> Result<StagedFiles, Error> {
        let below = store.folder("temporary");
        let folder = tempfile::Builder::new().prefix(".cwm-external-").tempdir_in(&below);
        let staged = StagedFiles { folder: folder.map_err(|error| Error::io("make a folder below", &below, error))? };
        for file in action.external_files() {
            let (object, at) = (store.object_path(&file.digest), staged.staged_path(&file.path));
            let made = || -> std::io::Result<()> {
                if at.symlink_metadata().is_ok() {
                    return Ok(());
                }
                at.parent().map_or(Ok(()), fs::create_dir_all)?;
                // An object may not be executed.
                if action.executable.contains(&file.path) {
                    fs::copy(&object, &at)?;
                    fs::set_permissions(&at, Permissions::from_mode(0o555))
                } else {
                    symlink(&object, &at)
                }
            };
            made().map_err(|error| Error::io("lay out", &at, error))?;
        }
        Ok(staged)
    }

    /// The path here of the file that is at `path` on the run's machine.
    fn staged_path(&self, path: &Path) -> PathBuf {
        let parts = path.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name),
            // Not out of this folder.
            Component::ParentDir => Some("up".as_ref()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        });
        self.folder.path().join(parts.collect::<PathBuf>())
    }

    /// Returns the action with the paths of the staged files.
    ///
    /// # Errors
    /// A file is not there, or this program does not have its stage.
    pub fn with_staged_paths(&self, registry: &Registry, mut action: ActionFile) -> Result<ActionFile, Error> {
        for input in action.inputs.values_mut().flatten() {
            match &mut input.artifact {
                Artifact::Output(output) => output.external = None,
                Artifact::External(file) => *file = self.staged(file)?,
            }
        }
        let files: Vec<&mut FileFingerprint> = match &mut action.body {
            ActionBody::Stage { values, files, .. } => {
                let kind = &action.components.kind;
                let unknown = || Error::internal(format!("this cwm has no stage `{kind}`"));
                let stage = registry.get(kind).ok_or_else(unknown)?;
                *values = key_parameters::with_moved_paths(stage, values, &|path| self.staged_path(path));
                files.iter_mut().collect()
            }
            ActionBody::Command { deps, .. } => deps.values_mut().collect(),
        };
        for file in files {
            *file = self.staged(file)?;
        }
        Ok(action)
    }

    /// Replaces paths of staged files in a message by the original ones.
    pub fn with_original_paths(&self, text: &str) -> String {
        text.replace(&self.folder.path().display().to_string(), "")
    }

    fn staged(&self, file: &FileFingerprint) -> Result<FileFingerprint, Error> {
        let path = self.staged_path(&file.path);
        let stat = Stat::of(&path)?;
        // Its content was verified when it was pulled, and nobody else writes to this folder.
        Ok(FileFingerprint { path, stat, digest: file.digest, is_stable: true })
    }
}

#[cfg(test)]
mod tests {
    use cwm_contract::{Label, Resources};

    use super::*;
    use cwm_action::{ACTION_FILE_FORMAT, ActionInput};
    use cwm_core::{Components, Digest, KEY_FORMAT};

    fn outside(path: &str, text: &str) -> FileFingerprint {
        let stat = Stat { size: text.len() as u64, mtime_ns: 1, ctime_ns: 1, inode: 1, device: 1 };
        FileFingerprint { path: path.into(), stat, digest: Digest::of(text.as_bytes()), is_stable: true }
    }

    fn action() -> ActionFile {
        let components = Components {
            key_format: KEY_FORMAT,
            contract: 1,
            kind: "command".into(),
            code: BTreeMap::new(),
            parameters: BTreeMap::new(),
            inputs: BTreeMap::new(),
        };
        let input = |snapshot| ActionInput { label: Label::stage("x"), artifact: Artifact::External(snapshot) };
        let group = vec![input(outside("/far/../off/a.pgn", "a")), input(outside("/off/b/a.pgn", "b"))];
        ActionFile {
            format: ACTION_FILE_FORMAT,
            key: components.key(),
            label: Label::stage("train"),
            pipeline: "pipeline".into(),
            components,
            body: ActionBody::Command {
                shell: vec!["sh".into(), "-c".into()],
                run: String::new(),
                environment: BTreeMap::new(),
                inherited: Vec::new(),
                deps: BTreeMap::from([("tools/shout.sh".into(), outside("/far/tools/shout.sh", "#!/bin/sh"))]),
            },
            inputs: BTreeMap::from([("in".to_owned(), group)]),
            groups: vec!["in".to_owned()],
            outputs: BTreeMap::new(),
            resources: Resources::default(),
            cause: Vec::new(),
            force: false,
            executable: vec!["/far/tools/shout.sh".into()],
            recorded: None,
        }
    }

    #[test]
    fn external_files_are_staged_under_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(&folder.path().join("store")).unwrap();
        store.create().unwrap();
        let wanted = content(&action());
        assert_eq!(wanted.len(), 3, "{wanted:?}");
        for text in ["a", "b", "#!/bin/sh"] {
            store.ingest(Path::new("-"), &mut text.as_bytes()).unwrap();
        }
        let staged = StagedFiles::of(&store, &action()).unwrap();
        let registry = Registry::new(Vec::new(), &[], |_, _| Ok(BTreeMap::new()));
        let moved = staged.with_staged_paths(&registry, action()).unwrap();
        let files: Vec<&FileFingerprint> = moved.external_files().collect();
        let is_below = |path: &Path| path.starts_with(store.folder("temporary")) && !path.ends_with("..");
        for (file, (name, text)) in files.iter().zip([("a.pgn", "a"), ("a.pgn", "b"), ("shout.sh", "#!/bin/sh")]) {
            assert!(is_below(&file.path) && file.path.ends_with(name), "{}", file.path.display());
            assert_eq!(fs::read_to_string(&file.path).unwrap(), text);
            assert!(file.is_unchanged().unwrap());
        }
        let mode = |file: &FileFingerprint| fs::metadata(&file.path).unwrap().permissions().mode() & 0o111;
        assert_eq!(files.iter().map(|file| mode(file) != 0).collect::<Vec<_>>(), [false, false, true]);
        let message = format!("{}: line 2 is wrong", files[1].path.display());
        assert_eq!(staged.with_original_paths(&message), "/off/b/a.pgn: line 2 is wrong");
        let place = files[0].path.clone();
        drop(staged);
        assert!(!place.exists());
    }
}
