//! The store as its users meet it, undisturbed and disturbed.

mod commit;
mod disturbed;
mod export;
mod hostile;
mod import;
mod integrity;
mod locks;
mod output_snapshot;
mod record_cache;
mod states;
mod verify;
mod work;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use cwm_contract::{Format, Label, Value};
use tempfile::TempDir;

use super::*;
use cwm_core::{Components, Digest, FileErrorKind, KEY_FORMAT, Key};

/// A folder that goes away with the test, also where trees in it are read-only.
struct Folder {
    folder: TempDir,
}

impl Folder {
    fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        cwm_core::files::allow_changes(self.path());
    }
}

fn new_store() -> (Folder, Store) {
    // In memory where there is such a place: a hundred stores sync thousands of times.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let store = Store::at(&folder.path().join("artifacts")).unwrap();
    (Folder { folder }, store)
}

fn components(name: &str) -> Components {
    Components {
        key_format: KEY_FORMAT,
        contract: 1,
        kind: "command".into(),
        code: BTreeMap::new(),
        parameters: BTreeMap::from([("run".into(), Value::Text(name.into()))]),
        inputs: BTreeMap::new(),
    }
}

fn key(name: &str) -> Key {
    components(name).key()
}

fn run_info() -> RunInfo {
    RunInfo {
        wall_seconds: 1.5,
        user_seconds: 1.0,
        system_seconds: 0.25,
        peak_memory_bytes: 1 << 20,
        machine: HostInfo::current(),
        user: "someone".into(),
        cwm_version: "0.1.0".into(),
        ..RunInfo::default()
    }
}

fn text_file() -> OutputShape {
    OutputShape::File { extension: "txt".into() }
}

fn made(path: PathBuf, shape: OutputShape) -> NewOutput {
    NewOutput { format: Format::ANY, shape, content: OutputContent::Local(path) }
}

/// The finished action `name`, whose outputs are in its work folder: the file `text` and the folder `folder` with
/// these files.
fn finished(store: &Store, name: &str, text: &str, folder: &[(&str, &str)]) -> NewAction {
    let work = store.work_folder(&key(name));
    work.prepare(1).unwrap();
    let (file, tree) = (work.out().join("text.txt"), work.out().join("folder"));
    fs::write(&file, text).unwrap();
    fs::create_dir(&tree).unwrap();
    for (name, content) in folder {
        let path = tree.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    fs::write(work.log(), format!("the log of {name}\n")).unwrap();
    NewAction {
        record: ActionRecord {
            cause: vec!["never ran".into()],
            metrics: BTreeMap::from([("loss".to_owned(), 0.5), ("worst".to_owned(), f64::INFINITY)]),
            probe: BTreeMap::from([("run/text".to_owned(), Digest::of(text.as_bytes()))]),
            ..ActionRecord::new("pipeline".into(), Label::stage(name), components(name), run_info())
        },
        outputs: BTreeMap::from([
            ("text".to_owned(), made(file, text_file())),
            ("folder".to_owned(), made(tree, OutputShape::Folder)),
        ]),
        log: Some(work.log()),
    }
}

fn missing(store: &Store, record: &ActionRecord) -> Vec<MissingContent> {
    store.missing(record, &crate::external_files::DigestCache::without_cache()).unwrap()
}

fn path_of(store: &Store, record: &ActionRecord, output: &str) -> PathBuf {
    store.path_of(&record.outputs[output], &crate::external_files::DigestCache::without_cache()).unwrap()
}

fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A file system mounted for the life of a test.
struct Mount {
    place: PathBuf,
}

impl Mount {
    /// Mounts with `mount`'s arguments; nothing, in words, where that is not possible.
    fn new(place: &Path, arguments: &[&str]) -> Option<Mount> {
        let mounted = std::process::Command::new("mount").args(arguments).arg(place).output();
        match mounted {
            Ok(output) if output.status.success() => Some(Mount { place: place.to_owned() }),
            Ok(output) => {
                eprintln!("skipped: cannot mount ({})", String::from_utf8_lossy(&output.stderr).trim());
                None
            }
            Err(error) => {
                eprintln!("skipped: cannot mount ({error})");
                None
            }
        }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        drop(std::process::Command::new("umount").arg(&self.place).output());
    }
}
