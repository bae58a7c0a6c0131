//! Power loss, kills, full disks and stores that cannot be written.

use std::collections::BTreeSet;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

use super::*;
use crate::external_files::DigestCache;
use cwm_core::files::{Hook, Step};

/// The files that survive a power loss now.
#[derive(Clone, Default)]
struct SureDisk {
    content: BTreeSet<PathBuf>,
    placed: BTreeSet<PathBuf>,
    names: BTreeSet<PathBuf>,
}

impl SureDisk {
    fn see(&mut self, step: Step, path: &Path, from: Option<&Path>) {
        match step {
            Step::MakeFolder => self.placed.extend(path.ancestors().take(2).map(Path::to_owned)),
            Step::Rename => {
                self.names.remove(path);
                self.placed.insert(path.to_owned());
                if from.is_some_and(|from| self.content.contains(from)) {
                    self.content.insert(path.to_owned());
                }
            }
            Step::Sync => {
                self.content.insert(path.to_owned());
                let placed = self.placed.iter().filter(|placed| placed.parent() == Some(path));
                self.names.extend(placed.cloned());
            }
            _ => {}
        }
    }

    /// The content, its name, and the name of its folder, which is in one that was made with the store.
    fn has(&self, path: &Path) -> bool {
        self.content.contains(path) && self.names.contains(path) && self.names.contains(path.parent().unwrap())
    }
}

/// The record may reach the disk the moment it is renamed; so before that, all that it names must be there for good.
#[test]
fn whatever_a_record_names_is_on_the_disk_before_the_record() {
    let (_folder, store) = new_store();
    store.create().unwrap();
    // Something that another commit placed, and may not have made sure of.
    let shared = store.record(finished(&store, "other", "shared", &[("z", "z")])).unwrap().record;
    let disk = Mutex::new(SureDisk::default());
    {
        let mut disk = disk.lock().unwrap();
        for digest in [shared.outputs["text"].digest, shared.outputs["folder"].digest, Digest::of(b"z")] {
            let object = store.object_path(&digest);
            disk.content.insert(object.clone());
            disk.placed.extend([object.parent().unwrap().to_owned(), object]);
        }
    }
    let disk = Arc::new(disk);
    let at_record = Arc::new(Mutex::new(Vec::new()));
    let (seen, records, root) = (disk.clone(), at_record.clone(), store.root().to_owned());
    let hook: Hook = Arc::new(move |step, path, from| {
        let mut disk = seen.lock().unwrap();
        if step == Step::Rename && path.starts_with(root.join("actions")) {
            assert!(disk.content.contains(from.unwrap()), "the record itself is synced");
            records.lock().unwrap().push((path.to_owned(), disk.clone()));
        }
        disk.see(step, path, from);
        Ok(())
    });
    let watched = store.clone().with_fault_injection(hook);
    let action = finished(&store, "a", "shared", &[("x", "one"), ("deep/y", "two"), ("z", "z")]);
    let record = watched.record(action).unwrap().record;

    let at_record = at_record.lock().unwrap();
    let [(path, before)] = at_record.as_slice() else { panic!("one record, not {}", at_record.len()) };
    let mut needed = vec![record.outputs["text"].digest, record.outputs["folder"].digest, record.log.unwrap()];
    needed.extend([Digest::of(b"one"), Digest::of(b"two"), Digest::of(b"z")]);
    for digest in needed {
        let object = store.object_path(&digest);
        assert!(before.has(&object), "{} is synced, with its name and that of its shard", object.display());
    }
    let disk = disk.lock().unwrap();
    assert!(disk.has(path), "in the end the record is there for good, and its folder");
    assert!(disk.names.contains(path.parent().unwrap().parent().unwrap()), "and so is the shard");
}

/// A hook after whose `last` steps nothing happens any more, as after `kill -9`.
fn killed_after(last: usize) -> (Hook, Arc<AtomicUsize>) {
    let steps = Arc::new(AtomicUsize::new(0));
    let count = steps.clone();
    let hook: Hook =
        Arc::new(
            move |_, _, _| {
                if count.fetch_add(1, Ordering::SeqCst) < last { Ok(()) } else { Err(io::Error::other("killed")) }
            },
        );
    (hook, steps)
}

fn check_after_disturbance(store: &Store, name: &str, text: &str) {
    let store = Store::at(store.root()).unwrap();
    for record in store.actions(&key(name)).unwrap() {
        assert_eq!(missing(&store, &record), []);
    }
    let report = store.verify(None, |_, _| {}).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    let record = store.record(finished(&store, name, text, &[("x", text), ("deep/y", name)])).unwrap().record;
    assert_eq!(fs::read_to_string(path_of(&store, &record, "text")).unwrap(), text);
    assert_eq!(fs::read_to_string(path_of(&store, &record, "folder").join("deep/y")).unwrap(), name);
    assert_eq!(store.actions(&key(name)).unwrap().len(), 1);
}

#[test]
fn a_commit_killed_at_any_step_leaves_a_valid_store_and_can_be_done_again() {
    let (_folder, store) = new_store();
    store.create().unwrap();
    let mut killed = 0;
    for last in 0.. {
        let (name, text) = (format!("stage {last}"), format!("text {last}"));
        let action = finished(&store, &name, &text, &[("x", &text), ("deep/y", &name)]);
        let (hook, steps) = killed_after(last);
        let result = store.clone().with_fault_injection(hook).record(action);
        check_after_disturbance(&store, &name, &text);
        if steps.load(Ordering::SeqCst) <= last {
            assert!(result.is_ok());
            break;
        }
        killed += 1;
    }
    assert!(killed > 30, "a commit has more steps than {killed}");
    // The files that the kills left are in one folder and go with one call.
    assert_ne!(names_in(&store.root().join("temporary")), Vec::<String>::new());
    let alone = store.lock_exclusive("test", || {}).unwrap();
    let others = store.stale_temporaries().unwrap().into_iter().map(|left| left.path).collect();
    store.move_garbage(&Garbage { others, ..Garbage::default() }, EvictionReason::Collected, &alone).unwrap();
    assert_eq!(names_in(&store.root().join("temporary")), Vec::<String>::new());
}

#[test]
fn a_commit_whose_disk_fails_at_any_step_says_so_and_leaves_nothing_temporary() {
    let (_folder, store) = new_store();
    store.create().unwrap();
    for failing in 0.. {
        let (name, text) = (format!("stage {failing}"), format!("text {failing}"));
        let action = finished(&store, &name, &text, &[("x", &text), ("deep/y", &name)]);
        let steps = Arc::new(AtomicUsize::new(0));
        let count = steps.clone();
        let hook: Hook = Arc::new(move |step, _, _| {
            // Removing always works: a full disk does not stand in its way.
            if count.fetch_add(1, Ordering::SeqCst) == failing && step != Step::Remove {
                Err(io::ErrorKind::StorageFull.into())
            } else {
                Ok(())
            }
        });
        if let Err(error) = store.clone().with_fault_injection(hook).record(action) {
            assert_eq!(error.kind(), FileErrorKind::DiskFull);
            assert!(error.hint().unwrap().contains("free space"));
        }
        assert_eq!(names_in(&store.root().join("temporary")), Vec::<String>::new());
        check_after_disturbance(&store, &name, &text);
        if steps.load(Ordering::SeqCst) <= failing {
            break;
        }
    }
}

#[test]
fn a_creation_killed_at_any_step_is_simply_done_again() {
    for last in 0..40 {
        let (folder, store) = new_store();
        let (hook, steps) = killed_after(last);
        let created = store.clone().with_fault_injection(hook).create();
        assert_eq!(created.is_ok(), steps.load(Ordering::SeqCst) <= last);
        let store = Store::at(&folder.path().join("artifacts")).unwrap();
        store.create().unwrap();
        assert!(Store::at(store.root()).unwrap().exists());
        assert!(store.verify(None, |_, _| {}).unwrap().findings.is_empty());
    }
}

#[test]
fn a_full_disk_is_reported_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    if !is_root() {
        eprintln!("skipped: only root may mount a small disk");
        return;
    }
    let Some(_mount) = Mount::new(folder.path(), &["-t", "tmpfs", "-o", "size=2m", "cwm-test"]) else { return };
    let store = Store::at(&folder.path().join("artifacts")).unwrap();
    let before = store.record(finished(&store, "before", "safe", &[("x", "safe")])).unwrap().record;
    let action = finished(&store, "a", "hello", &[("x", "one")]);
    let filler = folder.path().join("filler");
    let full = fs::write(&filler, vec![0; 4 << 20]).unwrap_err();
    assert_eq!(full.kind(), io::ErrorKind::StorageFull);

    let error = store.record(action).unwrap_err();
    assert_eq!(error.kind(), FileErrorKind::DiskFull, "{error}");
    assert_eq!(store.actions(&key("a")).unwrap(), []);
    assert_eq!(missing(&store, &before), []);

    fs::remove_file(&filler).unwrap();
    let record = store.record(finished(&store, "a", "hello", &[("x", "one")])).unwrap().record;
    assert_eq!(missing(&store, &record), []);
    assert!(store.verify(None, |_, _| {}).unwrap().findings.is_empty());
}

/// Makes the store read-only for the life of the guard; nothing, in words, where that is not possible.
fn read_only(store: &Store) -> Option<Box<dyn std::any::Any>> {
    use std::os::unix::fs::PermissionsExt;
    struct Writable(Vec<PathBuf>);
    impl Drop for Writable {
        fn drop(&mut self) {
            for folder in &self.0 {
                drop(fs::set_permissions(folder, fs::Permissions::from_mode(0o755)));
            }
        }
    }
    if is_root() {
        let root = store.root().to_str().unwrap();
        let mount = Mount::new(store.root(), &["--bind", root])?;
        let again = std::process::Command::new("mount").args(["-o", "remount,ro,bind", root]).output().unwrap();
        if !again.status.success() {
            eprintln!("skipped: cannot mount read-only ({})", String::from_utf8_lossy(&again.stderr).trim());
            return None;
        }
        return Some(Box::new(mount));
    }
    let mut folders = vec![store.root().to_owned()];
    let mut next = 0;
    while next < folders.len() {
        for entry in fs::read_dir(&folders[next]).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            }
        }
        next += 1;
    }
    for folder in &folders {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o555)).unwrap();
    }
    Some(Box::new(Writable(folders)))
}

#[test]
fn a_read_only_store_is_read_and_refuses_to_be_written_in_words() {
    let (_folder, store) = new_store();
    let record = store.record(finished(&store, "a", "hello", &[("x", "one")])).unwrap().record;
    let lost_tree = store.record(finished(&store, "b", "hello", &[("x", "two")])).unwrap().record;
    cwm_core::DurableFs::default().remove(&path_of(&store, &lost_tree, "folder")).unwrap();
    let action = finished(&store, "c", "hello", &[]);
    let damaged = store.object_path(&Digest::of(b"two"));
    fs::remove_file(&damaged).unwrap();
    fs::write(&damaged, "2wo").unwrap();
    let Some(_guard) = read_only(&store) else { return };

    let store = Store::at(store.root()).unwrap();
    assert_eq!(store.actions(&key("a")).unwrap(), std::slice::from_ref(&record));
    assert_eq!(missing(&store, &record), []);
    assert_eq!(fs::read_to_string(path_of(&store, &record, "folder").join("x")).unwrap(), "one");
    drop(store.lock_shared(|_| {}).unwrap());
    assert_eq!(store.lock_owner(&key("a")).unwrap(), None);
    let report = store.verify(None, |_, _| {}).unwrap();
    let wrong: Vec<&Defect> = report.findings.iter().filter(|finding| finding.path == damaged).collect();
    assert_eq!(wrong.len(), 1, "{report:?}");
    assert_eq!(wrong[0].quarantined, None);
    assert!(damaged.exists());

    let error = store.record(action).unwrap_err();
    assert_eq!(error.kind(), FileErrorKind::ReadOnly, "{error}");
    assert!(error.hint().unwrap().contains("--store"));
    assert_eq!(store.try_lock_key(&key("a"), "test").unwrap_err().kind(), FileErrorKind::ReadOnly);
    let error = store.path_of(&lost_tree.outputs["folder"], &DigestCache::without_cache()).unwrap_err();
    assert!(error.to_string().contains("cannot be restored"), "{error}");
    assert!(!DigestCache::of_store(&store).save());
}
