//! Recording results and finding them again.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::external_files::DigestCache;

#[test]
fn a_result_is_moved_in_and_can_be_read_in_place() {
    let (_folder, store) = new_store();
    assert!(!store.exists());
    assert_eq!(store.actions(&key("a")).unwrap(), []);
    let action = finished(&store, "a", "hello", &[("x.txt", "one"), ("deep/y.txt", "two"), ("empty", "")]);
    let inode = {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(store.work_folder(&key("a")).out().join("text.txt")).unwrap().ino()
    };
    let RecordedAction { record, is_new } = store.record(action).unwrap();
    assert!(is_new);

    let text = path_of(&store, &record, "text");
    assert_eq!(fs::read_to_string(&text).unwrap(), "hello");
    let metadata = fs::metadata(&text).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o444);
    assert_eq!(std::os::unix::fs::MetadataExt::ino(&metadata), inode, "moved, not copied");
    assert_eq!(record.outputs["text"].digest, Digest::of(b"hello"));
    assert_eq!(record.outputs["text"].size, 5);

    let tree = path_of(&store, &record, "folder");
    assert_eq!(names_in(&tree), ["deep", "empty", "x.txt"]);
    assert_eq!(fs::read_to_string(tree.join("deep/y.txt")).unwrap(), "two");
    assert_eq!(fs::read_to_string(tree.join("empty")).unwrap(), "");
    assert!(!fs::read_link(tree.join("deep/y.txt")).unwrap().is_absolute());
    assert_eq!(record.outputs["folder"].size, 6);
    assert_eq!(store.read_checked(&record.log.unwrap()).unwrap(), b"the log of a\n");

    // Found again by another process, with all that was reported.
    let again = Store::at(store.root()).unwrap();
    assert_eq!(again.actions(&key("a")).unwrap(), std::slice::from_ref(&record));
    assert_eq!(again.keys().unwrap(), [key("a")]);
    assert_eq!(record.metrics["worst"], f64::INFINITY);
    assert_eq!(missing(&again, &record), []);
    store.work_folder(&key("a")).remove().unwrap();
    assert_eq!(names_in(&store.root().join("work")), Vec::<String>::new());
    assert!(again.verify(None, |_, _| {}).unwrap().findings.is_empty());
}

#[test]
fn a_store_that_was_moved_still_works() {
    let (folder, store) = new_store();
    let record = store.record(finished(&store, "a", "hello", &[("x", "one")])).unwrap().record;
    let moved = folder.path().join("elsewhere");
    fs::rename(store.root(), &moved).unwrap();
    let store = Store::at(&moved).unwrap();
    assert_eq!(fs::read_to_string(path_of(&store, &record, "folder").join("x")).unwrap(), "one");
    assert_eq!(missing(&store, &record), []);
}

#[test]
fn the_same_content_is_stored_once() {
    let (_folder, store) = new_store();
    let record = store.record(finished(&store, "a", "same", &[("x", "same"), ("y", "same")])).unwrap().record;
    let other = store.record(finished(&store, "b", "same", &[("x", "same"), ("y", "same")])).unwrap();
    assert!(other.is_new, "another key has its own record");
    assert_eq!(other.record.outputs, record.outputs);
    // "same", the manifest and two logs.
    assert_eq!(store.verify(None, |_, _| {}).unwrap().objects, 4);
    assert_eq!(
        names_in(&store.work_folder(&key("b")).out().join("folder")),
        Vec::<String>::new(),
        "the doubles are dropped"
    );
}

#[test]
fn the_same_result_twice_is_recorded_once() {
    let (_folder, store) = new_store();
    let first = store.record(finished(&store, "a", "hello", &[])).unwrap().record;
    let mut again = finished(&store, "a", "hello", &[]);
    again.record.run_info.user = "someone else".into();
    let again = store.record(again).unwrap();
    assert!(!again.is_new);
    assert_eq!(again.record, first);
    assert_eq!(store.actions(&key("a")).unwrap(), [first]);
}

#[test]
fn a_computed_result_takes_the_place_of_an_equal_one_that_was_recorded_from_files() {
    let (_folder, store) = new_store();
    let record_from_files = || {
        let mut taken = finished(&store, "a", "hello", &[]);
        taken.record.run_info.taken_from = BTreeMap::from([("text".to_owned(), PathBuf::from("/mine.txt"))]);
        store.record(NewAction { log: None, ..taken }).unwrap()
    };
    assert!(record_from_files().record.is_recorded_by_hand());
    let computed = store.record(finished(&store, "a", "hello", &[])).unwrap();
    assert!(computed.is_new && !computed.record.is_recorded_by_hand());
    assert_eq!(store.actions(&key("a")).unwrap(), std::slice::from_ref(&computed.record));
    // The other way round, the computed one stays.
    assert_eq!(record_from_files().record, computed.record);
    assert_eq!(store.actions(&key("a")).unwrap(), [computed.record]);
    assert!(store.verify(None, |_, _| {}).unwrap().findings.is_empty());
}

#[test]
fn of_two_results_the_locked_one_comes_first_else_the_first_recorded() {
    let (_folder, store) = new_store();
    let cpu = store.record(finished(&store, "a", "on the CPU", &[])).unwrap().record;
    let gpu = store.record(finished(&store, "a", "on the GPU", &[])).unwrap().record;
    let key = key("a");
    assert_eq!(store.actions(&key).unwrap(), [cpu.clone(), gpu.clone()]);
    assert_eq!(store.preferred_record(&key, None).unwrap(), Some(cpu.clone()));
    assert_eq!(store.preferred_record(&key, Some(&gpu.output_digests())).unwrap(), Some(gpu.clone()));
    assert_eq!(store.candidates(&key, Some(&gpu.output_digests())).unwrap(), [gpu.clone(), cpu.clone()]);
    assert_eq!(store.preferred_record(&key, Some(&BTreeMap::new())).unwrap(), Some(cpu.clone()));

    // One whose content is lost does not stand in the way of the other.
    let available = |preferred: &ActionRecord| {
        store.available(&key, Some(&preferred.output_digests()), &DigestCache::without_cache()).unwrap()
    };
    assert_eq!(available(&gpu), Some(gpu.clone()));
    fs::remove_file(store.object_path(&gpu.outputs["text"].digest)).unwrap();
    assert_eq!(available(&gpu), Some(cpu.clone()));
    fs::remove_file(store.object_path(&cpu.outputs["text"].digest)).unwrap();
    assert_eq!(available(&gpu), None);
}

#[test]
fn content_that_is_lost_is_missed_and_put_back_by_the_same_result() {
    let (_folder, store) = new_store();
    let files = &[("x", "one"), ("y", "two")];
    let record = store.record(finished(&store, "a", "hello", files)).unwrap().record;
    for lost in [Digest::of(b"one"), Digest::of(b"hello"), record.outputs["folder"].digest] {
        fs::remove_file(store.object_path(&lost)).unwrap();
        let missed: Vec<Digest> = missing(&store, &record).into_iter().map(|missing| missing.digest).collect();
        assert_eq!(missed, [lost]);
        assert!(!store.record(finished(&store, "a", "hello", files)).unwrap().is_new);
        assert_eq!(missing(&store, &record), []);
    }
    // Cut short, as after a power loss on a disk that lies.
    let object = store.object_path(&Digest::of(b"two"));
    fs::remove_file(&object).unwrap();
    fs::write(&object, "t").unwrap();
    assert_eq!(missing(&store, &record).len(), 1);
    store.record(finished(&store, "a", "hello", files)).unwrap();
    assert_eq!(fs::read_to_string(&object).unwrap(), "two");
}

#[test]
fn a_missing_tree_is_made_again() {
    let (_folder, store) = new_store();
    let record = store.record(finished(&store, "a", "hello", &[("x", "one")])).unwrap().record;
    cwm_core::DurableFs::default().remove(&store.root().join("trees")).unwrap();
    assert_eq!(missing(&store, &record), [], "a tree holds nothing of its own");
    assert_eq!(fs::read_to_string(path_of(&store, &record, "folder").join("x")).unwrap(), "one");
}

#[test]
fn a_tree_that_was_changed_is_made_again_before_it_is_read() {
    use std::os::unix::fs::symlink;
    let (_folder, store) = new_store();
    let files = [("deep/y", "two"), ("x", "one")];
    let record = store.record(finished(&store, "a", "hello", &files)).unwrap().record;
    let tree = path_of(&store, &record, "folder");
    let link_of_x = fs::read_link(tree.join("x")).unwrap();
    let spoil: [&dyn Fn(); 8] = [
        &|| fs::remove_file(tree.join("x")).unwrap(),
        &|| fs::remove_dir_all(tree.join("deep")).unwrap(),
        &|| fs::write(tree.join("z"), "more").unwrap(),
        &|| fs::create_dir(tree.join("empty")).unwrap(),
        &|| symlink(&link_of_x, tree.join("deep/x")).unwrap(),
        &|| {
            fs::remove_file(tree.join("x")).unwrap();
            fs::write(tree.join("x"), "1ne").unwrap();
        },
        &|| {
            fs::remove_file(tree.join("x")).unwrap();
            symlink(fs::read_link(tree.join("deep/y")).unwrap().strip_prefix("..").unwrap(), tree.join("x")).unwrap();
        },
        &|| {
            fs::rename(&tree, tree.with_file_name("elsewhere")).unwrap();
            symlink("elsewhere", &tree).unwrap();
        },
    ];
    for (index, spoil) in spoil.iter().enumerate() {
        cwm_core::files::allow_changes(&tree);
        spoil();
        assert_eq!(path_of(&store, &record, "folder"), tree);
        assert!(!tree.is_symlink(), "case {index}");
        assert_eq!(names_in(&tree), ["deep", "x"], "case {index}");
        assert_eq!(names_in(&tree.join("deep")), ["y"], "case {index}");
        assert_eq!(fs::read_to_string(tree.join("x")).unwrap(), "one", "case {index}");
        assert_eq!(fs::read_to_string(tree.join("deep/y")).unwrap(), "two", "case {index}");
        assert_eq!(names_in(&store.root().join("temporary")), Vec::<String>::new(), "case {index}");
    }
}

#[test]
fn a_tree_that_another_process_places_first_is_used() {
    use std::os::unix::fs::MetadataExt;
    let (_folder, store) = new_store();
    let record = store.record(finished(&store, "a", "hello", &[("x", "one")])).unwrap().record;
    let (output, files) = (record.outputs["folder"].clone(), DigestCache::without_cache());
    for at in [cwm_core::files::Step::MakeFolder, cwm_core::files::Step::Rename] {
        let tree = store.tree_folder(&output.digest);
        cwm_core::DurableFs::default().remove(&tree).unwrap();
        let (other, wanted) = (Store::at(store.root()).unwrap(), output.clone());
        let (of_other, seen) = (Arc::new(std::sync::OnceLock::new()), tree.clone());
        let inode = of_other.clone();
        let hook: cwm_core::files::Hook = Arc::new(move |step, path, _| {
            if step == at && (step == cwm_core::files::Step::MakeFolder || path == seen) && inode.get().is_none() {
                let path = other.path_of(&wanted, &DigestCache::without_cache()).unwrap();
                inode.set(fs::metadata(path).unwrap().ino()).unwrap();
            }
            Ok(())
        });
        let store = store.clone().with_fault_injection(hook);
        assert_eq!(store.path_of(&output, &files).unwrap(), tree);
        assert_eq!(Some(&fs::metadata(&tree).unwrap().ino()), of_other.get(), "{at:?}: it may be in use");
        assert_eq!(names_in(&store.root().join("temporary")), Vec::<String>::new());
    }
}

#[test]
fn the_executable_bit_is_kept_in_the_manifest() {
    let (_folder, store) = new_store();
    let action = finished(&store, "a", "hello", &[("plain", "1"), ("tool", "2")]);
    let tool = store.work_folder(&key("a")).out().join("folder/tool");
    fs::set_permissions(tool, fs::Permissions::from_mode(0o755)).unwrap();
    let record = store.record(action).unwrap().record;
    let manifest = store.manifest(&record.outputs["folder"].digest).unwrap();
    assert!(manifest.files()["tool"].executable && !manifest.files()["plain"].executable);
}

#[test]
fn a_file_from_outside_is_referenced_and_found_where_it_moved_with_the_store() {
    let (folder, store) = new_store();
    let data = folder.path().join("data.pgn");
    fs::write(&data, "1. e4").unwrap();
    let digests = DigestCache::without_cache();
    let mut action = finished(&store, "a", "unused", &[]);
    action.outputs = BTreeMap::from([(
        "pgn".to_owned(),
        NewOutput {
            format: Format::PGN,
            shape: OutputShape::File { extension: "pgn".into() },
            content: OutputContent::External(digests.snapshot(&data).unwrap()),
        },
    )]);
    let record = store.record(action).unwrap().record;
    assert_eq!(path_of(&store, &record, "pgn"), data);
    assert_eq!(missing(&store, &record), []);
    assert!(store.verify(None, |_, _| {}).unwrap().findings.is_empty(), "what is outside is not the store's to check");

    fs::write(&data, "1. d4").unwrap();
    let changed = missing(&store, &record);
    assert_eq!(changed, [MissingContent { output: "pgn".into(), digest: record.outputs["pgn"].digest, damage: None }]);
    assert!(store.path_of(&record.outputs["pgn"], &digests).is_err());
    fs::write(&data, "1. e4").unwrap();

    let moved = folder.path().join("moved");
    fs::create_dir(&moved).unwrap();
    fs::rename(&data, moved.join("data.pgn")).unwrap();
    fs::rename(store.root(), moved.join("artifacts")).unwrap();
    let store = Store::at(&moved.join("artifacts")).unwrap();
    assert_eq!(missing(&store, &record), []);
    assert_eq!(fs::read_to_string(path_of(&store, &record, "pgn")).unwrap(), "1. e4");
}

#[test]
fn two_who_record_one_key_under_its_lock_leave_one_record() {
    let (_folder, store) = new_store();
    store.create().unwrap();
    let barrier = std::sync::Barrier::new(4);
    let new: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let store = Store::at(store.root()).unwrap();
                    barrier.wait();
                    let _lock = store.lock_key(&key("a"), "test", |_| true).unwrap().unwrap();
                    let recorded = store.record(finished(&store, "a", "hello", &[("x", "one")])).unwrap();
                    usize::from(recorded.is_new)
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert_eq!(new, 1);
    assert_eq!(store.actions(&key("a")).unwrap().len(), 1);
    assert!(store.verify(None, |_, _| {}).unwrap().findings.is_empty());
}

#[test]
fn many_who_store_the_same_content_under_other_keys_do_no_harm() {
    let (_folder, store) = new_store();
    std::thread::scope(|scope| {
        for name in ["a", "b", "c", "d"] {
            let store = &store;
            scope.spawn(move || {
                // Also who creates the store is open.
                let store = Store::at(store.root()).unwrap();
                store.record(finished(&store, name, "same", &[("x", "same"), ("y", "other")])).unwrap()
            });
        }
    });
    let store = Store::at(store.root()).unwrap();
    assert_eq!(store.keys().unwrap().len(), 4);
    assert!(store.verify(None, |_, _| {}).unwrap().findings.is_empty());
}
