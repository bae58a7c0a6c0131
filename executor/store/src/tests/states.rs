//! Stores in which anything is changed, by the thousand: everything that is used is right, the damage is reported, and all heals.
//!
//! `CWM_STORE_STATES` asks for more of them. tests/kill/states.rs does the same through the binary, some hundred times slower.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;
use crate::external_files::DigestCache;

/// A file, folder or link.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Thing {
    Folder(u32),
    Link(PathBuf),
    File { bytes: Vec<u8>, mode: u32, modified: SystemTime },
}

/// A whole store, as it is put back after each change of it.
struct Whole {
    store: Store,
    records: Vec<ActionRecord>,
    things: BTreeMap<PathBuf, Thing>,
    /// The paths that are worth a change: those that hold anything, not the hundreds of empty shards.
    worth: Vec<PathBuf>,
}

/// One change: of which path, which one, and with what.
type Change = (proptest::sample::Index, u8, proptest::sample::Index, u8);

const NAMES: [&str; 3] = ["a", "b", "c"];

fn record_all(store: &Store) -> Vec<ActionRecord> {
    let action = |name: &&str| {
        let text = format!("the text of {}", if **name == *"c" { "a" } else { name });
        finished(store, name, &text, &[("x", "one"), ("deep/y", "two"), ("deep/z", name)])
    };
    NAMES.iter().map(|name| store.record(action(name)).unwrap().record).collect()
}

fn look(path: &Path) -> Option<Thing> {
    let metadata = fs::symlink_metadata(path).ok()?;
    Some(if metadata.is_dir() {
        Thing::Folder(metadata.mode() & 0o7777)
    } else if metadata.is_symlink() {
        Thing::Link(fs::read_link(path).ok()?)
    } else if metadata.is_file() {
        let (mode, modified) = (metadata.mode() & 0o7777, metadata.modified().ok()?);
        Thing::File { bytes: fs::read(path).ok()?, mode, modified }
    } else {
        return None;
    })
}

/// Everything below a folder, folders first.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    let mut next = 0;
    while next < found.len() {
        if fs::symlink_metadata(&found[next]).is_ok_and(|metadata| metadata.is_dir()) {
            found.extend(fs::read_dir(&found[next]).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
        next += 1;
    }
    found
}

fn remove(path: &Path) {
    cwm_core::DurableFs::default().remove(path).unwrap();
}

impl Whole {
    fn new(store: Store) -> Self {
        let records = record_all(&store);
        let root = store.root().to_owned();
        let things: BTreeMap<_, _> =
            below(&root).into_iter().map(|path| (path.clone(), look(&path).unwrap())).collect();
        let is_worth = |path: &&PathBuf| match &things[*path] {
            Thing::Folder(_) => things.keys().any(|other| other.parent() == Some(path.as_path())),
            Thing::Link(_) | Thing::File { .. } => !path.ends_with("format"),
        };
        let worth = things.keys().skip(1).filter(is_worth).cloned().collect();
        Whole { store, records, things, worth }
    }

    /// Puts everything back.
    fn put_back(&self) {
        for path in below(self.store.root()) {
            if !self.things.contains_key(&path) && fs::symlink_metadata(&path).is_ok() {
                remove(&path);
            }
        }
        for (path, thing) in &self.things {
            if look(path).as_ref() == Some(thing) {
                continue;
            }
            if !matches!((thing, look(path)), (Thing::Folder(_), Some(Thing::Folder(_)))) {
                remove(path);
            }
            match thing {
                Thing::Folder(mode) => {
                    fs::create_dir_all(path).unwrap();
                    fs::set_permissions(path, fs::Permissions::from_mode(*mode)).unwrap();
                }
                Thing::Link(target) => symlink(target, path).unwrap(),
                Thing::File { bytes, mode, modified } => {
                    fs::write(path, bytes).unwrap();
                    fs::File::options().write(true).open(path).unwrap().set_modified(*modified).unwrap();
                    fs::set_permissions(path, fs::Permissions::from_mode(*mode)).unwrap();
                }
            }
        }
    }

    fn change(&self, change: &Change) -> String {
        let (path, other) = (change.0.get(&self.worth), change.2.get(&self.worth));
        let number = usize::from(change.3);
        // As they were at first: what stands there by now may be a pipe or a device.
        let content = |path: &PathBuf| match &self.things[path] {
            Thing::File { bytes, modified, .. } => (bytes.clone(), *modified),
            Thing::Folder(_) | Thing::Link(_) => (Vec::new(), SystemTime::UNIX_EPOCH),
        };
        let (bytes, _) = content(path);
        let at = number % bytes.len().max(1);
        let write = |bytes: &[u8], modified: Option<SystemTime>| {
            if path.is_file() {
                drop(fs::set_permissions(path, fs::Permissions::from_mode(0o644)));
                drop(fs::write(path, bytes));
                let file = fs::File::options().write(true).open(path).unwrap();
                modified.into_iter().for_each(|time| file.set_modified(time).unwrap());
            }
        };
        // An earlier change may have put a file in the place of its folder.
        let remove = || drop(cwm_core::DurableFs::default().remove(path));
        match change.1 % 13 {
            0 => remove(),
            1 => write(&bytes[..at.min(bytes.len())], None),
            2 => write(&[&bytes[..], b"more"].concat(), None),
            3 | 4 => {
                let changed: Vec<u8> = bytes.iter().enumerate().map(|(i, byte)| byte ^ u8::from(i == at)).collect();
                write(&changed, None);
            }
            5 => write(&content(other).0, None),
            // With its times, as `cp -p` does it.
            6 => write(&content(other).0, Some(content(other).1)),
            7 => drop(fs::rename(other, path)),
            8 => {
                let aside = self.store.root().join("aside");
                drop(fs::rename(path, &aside));
                drop(fs::rename(other, path));
                drop(fs::rename(&aside, other));
            }
            9 => {
                remove();
                drop(symlink(["nowhere", "/dev/null", "/dev/zero", "."][number % 4], path));
            }
            10 => {
                remove();
                drop(fs::create_dir(path));
            }
            11 => {
                use rustix::fs::{CWD, FileType, Mode, mknodat};
                remove();
                let _ = mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0);
            }
            _ => {
                let time = SystemTime::now() - Duration::from_secs(number as u64 * 1000);
                if path.is_file() || path.is_dir() {
                    drop(fs::File::open(path).and_then(|file| file.set_modified(time)));
                }
            }
        }
        format!("{} {} {}", change.1 % 13, path.display(), other.display())
    }

    /// Everything that is used is right; everything else is reported and quarantined; and then all can be made again.
    fn heals(&self, done: &[String]) -> std::result::Result<(), TestCaseError> {
        let Ok(store) = Store::at(self.store.root()) else { return Ok(()) };
        let digests = DigestCache::of_store(&store);
        for record in &self.records {
            // An error is told, and `verify` mends what it is about.
            for found in store.actions(&record.key).unwrap_or_default() {
                prop_assert!(
                    self.records.contains(&ActionRecord { evicted: None, ..found.clone() }),
                    "{done:?}: {found:?}"
                );
                let Ok(unusable) = store.missing_or_damaged(&found, &digests) else { continue };
                for missing in &unusable {
                    // With something in the place of the locks, the damage is reported, and nothing is moved.
                    let aside = missing.damage.as_ref().map(|damage| store.quarantine_damaged(damage));
                    let is_told = |aside: Result<Option<Defect>>| aside.map_or(true, |found| found.is_some());
                    prop_assert!(aside.is_none_or(is_told), "{done:?}: {missing:?}");
                }
                if unusable.is_empty() {
                    self.reads_right(&store, &found, &digests, false, done)?;
                }
            }
        }
        let first = store.verify(None, |_, _| {});
        prop_assert!(first.is_ok(), "{done:?}: {first:?}");
        let again = store.verify(None, |_, _| {}).unwrap();
        let is_lost = |finding: &Defect| finding.what.contains("which is not in the store");
        // Files that people put there are reported and stay.
        let is_foreign = |finding: &Defect| {
            ["is not part of a store", "is not named like"].iter().any(|words| finding.what.contains(words))
        };
        let stays = again.findings.iter().find(|finding| !is_lost(finding) && !is_foreign(finding));
        prop_assert!(stays.is_none(), "{done:?}: {stays:?} after {first:?}");
        let store = Store::at(self.store.root()).unwrap();
        let made = record_all(&store);
        for (made, before) in made.iter().zip(&self.records) {
            prop_assert_eq!(&made.outputs, &before.outputs, "{:?}", done);
            prop_assert!(store.missing_or_damaged(made, &digests).unwrap().is_empty(), "{done:?}");
            self.reads_right(&store, made, &digests, true, done)?;
        }
        let last = store.verify(None, |_, _| {}).unwrap();
        prop_assert!(last.findings.iter().all(is_foreign), "{done:?}: {last:?} after {first:?}");
        Ok(())
    }

    fn reads_right(
        &self,
        store: &Store,
        record: &ActionRecord,
        digests: &DigestCache,
        is_mended: bool,
        done: &[String],
    ) -> std::result::Result<(), TestCaseError> {
        for output in record.outputs.values() {
            let path = match store.path_of(output, digests) {
                Ok(path) => path,
                // Its tree may not be made where something stands in the way, which is told.
                Err(error) => {
                    prop_assert!(!is_mended, "{done:?}: {error}");
                    continue;
                }
            };
            let snapshot = store.snapshot(output).unwrap();
            prop_assert!(store.verify_intact(&snapshot, digests).is_ok(), "{done:?}");
            let contents: Vec<(PathBuf, Digest)> = match output.shape {
                OutputShape::File { .. } => vec![(path, output.digest)],
                OutputShape::Folder => {
                    let manifest = store.manifest(&output.digest).unwrap();
                    manifest.files().iter().map(|(name, file)| (path.join(name), file.digest)).collect()
                }
            };
            for (path, digest) in contents {
                prop_assert_eq!(Digest::of(&fs::read(&path).unwrap()), digest, "{:?}: {}", done, path.display());
            }
        }
        Ok(())
    }
}

#[test]
fn whatever_is_changed_in_a_store_is_not_believed_and_heals() {
    let cases = std::env::var("CWM_STORE_STATES").ok().map_or(200, |text| text.parse().unwrap());
    let (_folder, store) = new_store();
    let whole = Whole::new(store);
    let changes = prop::collection::vec(any::<Change>(), 1..4);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let done = AtomicU32::new(0);
    let ran = TestRunner::new(config).run(&changes, |changes| {
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(10_000) {
            println!("{done} damaged stores");
        }
        whole.put_back();
        let done: Vec<String> = changes.iter().map(|change| whole.change(change)).collect();
        whole.heals(&done)
    });
    if let Err(error) = ran {
        panic!("{error}");
    }
}
