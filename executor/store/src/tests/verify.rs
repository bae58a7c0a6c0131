//! Damage is found, reported and set aside, never deleted.

use super::*;

fn flip_a_bit(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o444)).unwrap();
}

#[test]
fn one_flipped_bit_is_found_set_aside_and_made_again() {
    let (_folder, store) = new_store();
    let files = &[("x", "one"), ("y", "two")];
    let record = store.record(finished(&store, "a", "hello", files)).unwrap().record;
    let object = store.object_path(&Digest::of(b"two"));
    flip_a_bit(&object);
    let damaged = fs::read(&object).unwrap();

    let report = store.verify(None, |_, _| {}).unwrap();
    assert_eq!(report.objects, 5);
    assert_eq!(report.records, 1);
    let [finding] = &report.findings[..] else { panic!("one damaged object is one finding: {report:?}") };
    assert_eq!(finding.path, object);
    assert!(finding.what.contains("damaged") && finding.what.ends_with("(`a` computes it)"), "{finding}");
    let aside = finding.quarantined.clone().unwrap();
    assert_eq!(fs::read(&aside).unwrap(), damaged, "kept for whoever wants to look");
    assert!(!object.exists());

    assert_eq!(missing(&store, &record).len(), 1);
    store.record(finished(&store, "a", "hello", files)).unwrap();
    assert_eq!(missing(&store, &record), []);
    assert!(store.verify(None, |_, _| {}).unwrap().findings.is_empty());

    // A second one of the same name does not replace the first.
    flip_a_bit(&object);
    let second =
        store.verify(None, |_, _| {}).unwrap().findings.into_iter().find_map(|finding| finding.quarantined).unwrap();
    assert_ne!(second, aside);
    assert!(aside.exists() && second.exists());
}

/// Found by the store's states: the folder of locks was set aside by a store that had seen all of its folders before.
#[test]
fn a_folder_that_was_set_aside_is_made_again_at_once() {
    let (_folder, store) = new_store();
    store.record(finished(&store, "a", "text", &[])).unwrap();
    let locks = store.root().join("locks");
    fs::remove_dir_all(&locks).unwrap();
    std::os::unix::fs::symlink(".", &locks).unwrap();
    let findings = store.verify(None, |_, _| {}).unwrap().findings;
    assert!(findings.len() == 1 && findings[0].path == locks, "{findings:?}");
    assert!(fs::symlink_metadata(&locks).unwrap().is_dir());
    assert!(store.verify(None, |_, _| {}).unwrap().findings.is_empty());
}

#[test]
fn records_in_a_folder_that_is_not_named_like_a_key_are_reported_and_made_again() {
    let (_folder, store) = new_store();
    let record = store.record(finished(&store, "a", "text", &[])).unwrap().record;
    let folder = store.action_folder(&record.key);
    let upper = folder.with_file_name(record.key.to_string().to_uppercase());
    fs::rename(&folder, &upper).unwrap();
    let findings = store.verify(None, |_, _| {}).unwrap().findings;
    let [finding] = &findings[..] else { panic!("{findings:?}") };
    assert_eq!((&finding.path, finding.what.as_str()), (&upper, "is not named like a key"));
    assert_eq!(store.actions(&record.key).unwrap(), []);
    assert!(store.record(finished(&store, "a", "text", &[])).unwrap().is_new);
}

/// A run beside `verify`: what it stores after the objects were looked at is not called lost.
#[test]
fn what_is_recorded_meanwhile_is_not_missed() {
    let (_folder, store) = new_store();
    let new = |name: &str| drop(store.record(finished(&store, name, "same", &[("x", name)])).unwrap());
    new("a");
    // Its content was let go, and comes back.
    let collected = store.record(finished(&store, "b", "let go", &[("y", "gone")])).unwrap().record;
    let file = store.record_files(&collected.key).unwrap().remove(0).path;
    store.mark_evicted(&[file], eviction::EvictionReason::Collected).unwrap();
    let objects = collected.outputs.values().map(|output| output.digest).chain([Digest::of(b"gone")]);
    objects.for_each(|digest| fs::remove_file(store.object_path(&digest)).unwrap());
    assert!(store.verify(None, |_, _| {}).unwrap().findings.is_empty());

    let once = std::sync::Once::new();
    let report = store.verify(None, |_, _| {
        once.call_once(|| {
            new("c");
            drop(store.record(finished(&store, "b", "let go", &[("y", "gone")])).unwrap());
        });
    });
    let report = report.unwrap();
    assert!(report.findings.is_empty() && report.notes.is_empty(), "{report:?}");
    assert_eq!((report.records, report.evicted), (3, 0));
}

#[test]
fn a_changed_tree_is_made_again() {
    let (_folder, store) = new_store();
    let record = store.record(finished(&store, "a", "hello", &[("x", "one"), ("deep/y", "two")])).unwrap().record;
    let tree = path_of(&store, &record, "folder");
    let wrong = tree.with_file_name("wrong");
    let changes: [&dyn Fn(); 5] = [
        &|| fs::write(tree.join("more"), "something else").unwrap(),
        &|| {
            fs::remove_file(tree.join("x")).unwrap();
            fs::write(tree.join("x"), "something else").unwrap();
        },
        // As a power loss may leave it, since trees are not synced.
        &|| fs::remove_dir_all(tree.join("deep")).unwrap(),
        &|| fs::remove_file(tree.join("deep/y")).unwrap(),
        &|| fs::rename(&tree, &wrong).and_then(|()| fs::write(&tree, "")).unwrap(),
    ];
    for change in changes {
        for by_verify in [true, false] {
            change();
            if by_verify {
                let report = store.verify(None, |_, _| {}).unwrap();
                assert!(report.findings.is_empty(), "{report:?}");
            } else {
                path_of(&store, &record, "folder");
            }
            assert_eq!(names_in(&tree), ["deep", "x"]);
            assert_eq!(fs::read_to_string(tree.join("x")).unwrap(), "one");
            assert_eq!(fs::read_to_string(tree.join("deep/y")).unwrap(), "two");
            let _ = fs::remove_dir_all(&wrong);
        }
    }
    assert_eq!(names_in(&store.folder("temporary")), Vec::<String>::new());
}

#[test]
fn a_damaged_record_is_set_aside() {
    let (_folder, store) = new_store();
    store.record(finished(&store, "a", "hello", &[("x", "one")])).unwrap();
    let folder = store.action_folder(&key("a"));
    flip_a_bit(&folder.join(&names_in(&folder)[0]));
    assert_eq!(store.actions(&key("a")).unwrap_err().kind(), FileErrorKind::Damaged);
    let report = store.verify(None, |_, _| {}).unwrap();
    assert_eq!(report.findings.len(), 1, "{report:?}");
    assert!(report.findings[0].quarantined.is_some());
    assert_eq!(store.actions(&key("a")).unwrap(), [], "it simply never ran");
}

#[test]
fn a_tree_that_is_being_built_is_no_damage() {
    let (_folder, store) = new_store();
    let record = store.record(finished(&store, "a", "hello", &[("x", "one"), ("deep/y", "two")])).unwrap().record;
    let tree = path_of(&store, &record, "folder");
    // Another process is at work: `verify` may look at the tree while it is removed.
    let link = fs::read_link(tree.join("x")).unwrap();
    let working = store.lock_replacing(&tree).unwrap();
    fs::remove_file(tree.join("x")).unwrap();
    let other = store.clone();
    let verifying = std::thread::spawn(move || other.verify(None, |_, _| {}).unwrap());
    for _ in 0..100 {
        // It waits; an end by now would be one after the tree was made again, which the next line reports.
        if verifying.is_finished() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    std::os::unix::fs::symlink(link, tree.join("x")).unwrap();
    drop(working);
    let report = verifying.join().unwrap();
    assert!(report.findings.is_empty(), "{report:?}");
    assert_eq!(fs::read_to_string(tree.join("x")).unwrap(), "one");
}

#[test]
fn what_is_gone_and_what_does_not_belong_is_reported() {
    let (_folder, store) = new_store();
    store.record(finished(&store, "a", "hello", &[])).unwrap();
    let lost = store.object_path(&Digest::of(b"hello"));
    fs::remove_file(&lost).unwrap();
    let notes = lost.with_file_name("notes.txt");
    fs::write(&notes, "x").unwrap();
    let report = store.verify(None, |_, _| {}).unwrap();
    let reported: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    assert_eq!(reported.len(), 2, "{reported:?}");
    assert!(reported[0].contains("is not in the store"), "{reported:?}");
    assert!(reported[1].contains("notes.txt is not named like an object"), "{reported:?}");
    assert!(notes.exists());
}

#[test]
fn what_stands_in_the_way_of_the_store_is_set_aside() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let pipe = |path: &Path| mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let text = |path: &Path| fs::write(path, "in the way").unwrap();
    type Place = fn(&Store) -> PathBuf;
    let places: [Place; 8] = [
        |store| store.action_folder(&key("a")),
        |store| store.action_folder(&key("a")).parent().unwrap().to_owned(),
        |store| store.object_path(&Digest::of(b"hello")).parent().unwrap().to_owned(),
        |store| store.work_folder(&key("a")).path,
        |store| store.lock_path(&key("a").to_string()),
        |store| store.lock_path("store"),
        |store| store.root().join("temporary"),
        |store| store.root().join("trees"),
    ];
    for (number, place) in places.into_iter().enumerate() {
        let (_folder, store) = new_store();
        let first = store.record(finished(&store, "a", "hello", &[("x", "one")])).unwrap().record;
        let path = place(&store);
        cwm_core::DurableFs::default().remove(&path).unwrap();
        if path.parent().unwrap().ends_with("locks") {
            fs::create_dir(&path).unwrap();
        } else if number % 2 == 0 {
            pipe(&path);
        } else {
            text(&path);
        }
        let store = Store::at(store.root()).unwrap();
        let report = store.verify(None, |_, _| {}).unwrap();
        assert!(report.findings.iter().any(|found| found.path == path && found.quarantined.is_some()), "{report:?}");
        let store = Store::at(store.root()).unwrap();
        let again = store.record(finished(&store, "a", "hello", &[("x", "one")])).unwrap().record;
        assert_eq!(again.outputs, first.outputs);
        assert_eq!(missing(&store, &again), []);
        assert!(store.verify(None, |_, _| {}).unwrap().findings.is_empty());
    }
}

/// A pipe was waited for, and a link to a device read without end.
#[test]
fn a_record_that_is_no_file_is_damage() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let makes: [fn(&Path); 3] = [
        |path| mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap(),
        |path| std::os::unix::fs::symlink("/dev/zero", path).unwrap(),
        |path| std::os::unix::fs::symlink("nowhere", path).unwrap(),
    ];
    for make in makes {
        let (_folder, store) = new_store();
        store.record(finished(&store, "a", "hello", &[("x", "one")])).unwrap();
        let file = store.record_files(&key("a")).unwrap().remove(0).path;
        fs::remove_file(&file).unwrap();
        make(&file);
        let store = Store::at(store.root()).unwrap();
        assert!(store.actions(&key("a")).is_err());
        let report = store.verify(None, |_, _| {}).unwrap();
        assert!(report.findings[0].quarantined.is_some(), "{report:?}");
        assert_eq!(store.actions(&key("a")).unwrap(), []);
    }
}

#[test]
fn progress_ends_at_the_total() {
    let (_folder, store) = new_store();
    store.record(finished(&store, "a", "hello", &[("x", "one")])).unwrap();
    let seen = std::sync::Mutex::new(Vec::new());
    let report = store.verify(None, |done, _| seen.lock().unwrap().push(done)).unwrap();
    let most = seen.lock().unwrap().iter().copied().max();
    assert_eq!(most, Some(report.bytes));
}

#[test]
fn a_lost_log_is_noted_and_the_next_equal_result_brings_its_own() {
    let (_folder, store) = new_store();
    let first = store.record(finished(&store, "a", "hello", &[("x", "one")])).unwrap().record;
    let log = store.object_path(&first.log.unwrap());
    flip_a_bit(&log);
    let report = store.verify(None, |_, _| {}).unwrap();
    assert_eq!(report.findings.len(), 1, "{report:?}");
    assert_eq!(report.findings[0].path, log);
    let report = store.verify(None, |_, _| {}).unwrap();
    assert!(report.findings.is_empty(), "what is left is no damage: {report:?}");
    assert!(report.notes[0].what.contains("is missing its log"), "{report:?}");

    let again = finished(&store, "a", "hello", &[("x", "one")]);
    fs::write(again.log.as_ref().unwrap(), "the log of another attempt\n").unwrap();
    let again = store.record(again).unwrap();
    assert!(again.is_new);
    assert_eq!(again.record.outputs, first.outputs);
    assert_eq!(store.actions(&key("a")).unwrap(), std::slice::from_ref(&again.record), "in the place of the first");
    assert_eq!(store.read_checked(&again.record.log.unwrap()).unwrap(), b"the log of another attempt\n");
    let report = store.verify(None, |_, _| {}).unwrap();
    assert!(report.findings.is_empty() && report.notes.is_empty(), "{report:?}");

    // The very same record again: only its log is put back.
    fs::remove_file(store.object_path(&again.record.log.unwrap())).unwrap();
    let same = finished(&store, "a", "hello", &[("x", "one")]);
    fs::write(same.log.as_ref().unwrap(), "the log of another attempt\n").unwrap();
    store.record(same).unwrap();
    assert_eq!(store.actions(&key("a")).unwrap(), [again.record]);
    let report = store.verify(None, |_, _| {}).unwrap();
    assert!(report.findings.is_empty() && report.notes.is_empty(), "{report:?}");
}

#[test]
fn results_that_may_rest_on_damage_are_noted() {
    let (_folder, store) = new_store();
    let source = store.record(finished(&store, "a", "hello", &[("x", "one"), ("y", "two")])).unwrap().record;
    let reader = |name: &str, output: &str| {
        let mut action = finished(&store, name, name, &[]);
        action.record.components.inputs =
            BTreeMap::from([("in".into(), vec![(String::new(), source.outputs[output].digest)])]);
        store.record(action).unwrap();
    };
    reader("b", "text");
    reader("c", "folder");
    reader("d", "folder");
    // As a failing disk does it: nothing tells when.
    let digest = Digest::of(b"two");
    let object = store.object_path(&digest);
    flip_a_bit(&object);
    cwm_core::DurableFs::default().seal(&object, mtime_seal::second_of(&digest, std::time::SystemTime::now())).unwrap();
    let report = store.verify(None, |_, _| {}).unwrap();
    let noted: Vec<&str> = report.notes.iter().map(|note| note.what.as_str()).collect();
    assert_eq!(noted.len(), 2, "{noted:?}");
    for label in ["`c`", "`d`"] {
        assert!(noted.iter().any(|what| what.contains(&digest.to_string()) && what.contains(label)), "{noted:?}");
    }
    // Written by somebody after they ran, as its time tells: no result rests on it.
    flip_a_bit(&store.object_path(&Digest::of(b"hello")));
    assert_eq!(store.verify(None, |_, _| {}).unwrap().notes, []);
}
