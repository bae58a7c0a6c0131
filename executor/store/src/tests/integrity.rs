//! Objects that somebody changed, touched, copied or exchanged after they were stored.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, SystemTime};

use super::*;
use crate::external_files::DigestCache;

/// As a process that begins now has them; the number of files that it reads is added to `read`.
fn counting_files(store: &Store, read: &Arc<AtomicU64>) -> DigestCache {
    let read = read.clone();
    // Asked once for each file that is read. An hour later, so that nothing is young.
    let later = move || {
        read.fetch_add(1, Ordering::SeqCst);
        SystemTime::now() + Duration::from_secs(3600)
    };
    DigestCache::with(Some(store.root().join("external_files.cache")), Box::new(later))
}

fn files(store: &Store) -> DigestCache {
    counting_files(store, &Arc::default())
}

/// Returns the missing content of a record, and the number of files that were hashed; the digests are cached.
fn missing_or_damaged(store: &Store, record: &ActionRecord) -> (Vec<MissingContent>, u64) {
    let read = Arc::default();
    let files = counting_files(store, &read);
    let found = store.missing_or_damaged(record, &files).unwrap();
    files.save();
    (found, read.load(Ordering::SeqCst))
}

/// Waits until the clock of the file system shows another time than when this was recorded.
fn await_tick(store: &Store, record: &ActionRecord) {
    let file = store.root().join("tick");
    let tick = || {
        fs::write(&file, "").unwrap();
        cwm_core::Stat::of(&file).unwrap().ctime_ns
    };
    while tick() <= store.recorded_ns(&record.key).unwrap() {}
    fs::remove_file(&file).unwrap();
}

/// Writes other bytes of the same length, as an owner can: `chmod u+w`, `printf >`, `chmod u-w`.
fn overwrite(object: &Path, content: &str) {
    assert_eq!(fs::metadata(object).unwrap().len(), content.len() as u64);
    fs::set_permissions(object, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(object, content).unwrap();
    fs::set_permissions(object, fs::Permissions::from_mode(0o444)).unwrap();
}

fn stored(store: &Store, name: &str) -> ActionRecord {
    store.record(finished(store, name, "hello", &[("x", "one"), ("deep/y", "two")])).unwrap().record
}

#[test]
fn what_is_stored_bears_its_seal_and_is_never_hashed_again() {
    let (_folder, store) = new_store();
    let record = stored(&store, "a");
    let (ingested, _) = store.ingest(Path::new("a pipe"), &mut &b"1. e4"[..]).unwrap();
    let folder = record.outputs["folder"].digest;
    for digest in [folder, ingested, record.log.unwrap()].into_iter().chain(["hello", "one", "two"].map(of)) {
        let metadata = fs::metadata(store.object_path(&digest)).unwrap();
        assert!(
            mtime_seal::has_valid_seal(&digest, metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec()),
            "{digest}"
        );
        assert_eq!(metadata.mode() & 0o777, 0o444);
        let age = SystemTime::now().duration_since(metadata.modified().unwrap()).unwrap();
        assert!(age < Duration::from_secs(24 * 3600), "younger than what anybody deletes by age: {age:?}");
    }
    assert_eq!(missing_or_damaged(&store, &record), (vec![], 0));
    let snapshot = store.snapshot(&record.outputs["folder"]).unwrap();
    store.verify_intact(&snapshot, &DigestCache::without_cache()).unwrap();
}

fn of(content: &str) -> Digest {
    Digest::of(content.as_bytes())
}

#[test]
fn other_bytes_of_the_same_length_are_found_set_aside_and_made_again() {
    let changes: [(&str, &str, &str); 3] =
        [("text", "hello", "hallo"), ("folder", "one", "1ne"), ("folder", "two", "2wo")];
    for (output, before, after) in changes {
        let (_folder, store) = new_store();
        let record = stored(&store, "a");
        let object = store.object_path(&of(before));
        overwrite(&object, after);
        assert_eq!(missing(&store, &record), [], "who only looks reads nothing");
        let snapshot = store.snapshot(&record.outputs[output]).unwrap();
        let error = store.verify_intact(&snapshot, &files(&store)).unwrap_err();
        assert_eq!(error.kind(), FileErrorKind::Damaged, "{error}");

        let (found, _) = missing_or_damaged(&store, &record);
        assert_eq!(
            found.iter().map(|one| (one.output.as_str(), one.digest)).collect::<Vec<_>>(),
            [(output, of(before))]
        );
        assert!(MissingContent::describe(&found).contains("changed"));
        let finding = store.quarantine_damaged(found[0].damage.as_ref().unwrap()).unwrap().unwrap();
        assert_eq!(finding.path, object);
        assert_eq!(fs::read_to_string(finding.quarantined.unwrap()).unwrap(), after);
        assert!(
            store
                .verify(None, |_, _| {})
                .unwrap()
                .findings
                .iter()
                .all(|finding| finding.what.contains("not in the store"))
        );

        stored(&store, "a");
        assert_eq!(missing_or_damaged(&store, &record).0, []);
        assert!(store.verify(None, |_, _| {}).unwrap().findings.is_empty());
    }
}

#[test]
fn a_result_with_the_same_content_replaces_what_was_changed() {
    let (_folder, store) = new_store();
    let record = stored(&store, "a");
    let manifest = fs::read_to_string(store.object_path(&record.outputs["folder"].digest)).unwrap();
    overwrite(&store.object_path(&of("hello")), "hallo");
    overwrite(&store.object_path(&of("two")), "2wo");
    overwrite(&store.object_path(&record.outputs["folder"].digest), &manifest.replace('y', "z"));
    let other = stored(&store, "b");
    assert_eq!(other.outputs, record.outputs);
    assert_eq!(missing_or_damaged(&store, &record).0, []);
    assert!(store.verify(None, |_, _| {}).unwrap().findings.is_empty());
    overwrite(&store.object_path(&of("hello")), "hallo");
    store.ingest(Path::new("a pipe"), &mut &b"hello"[..]).unwrap();
    assert!(store.verify(None, |_, _| {}).unwrap().findings.is_empty());
}

#[test]
fn what_was_touched_is_hashed_once_and_stays_as_it_is() {
    let (_folder, store) = new_store();
    let record = stored(&store, "a");
    let object = store.object_path(&of("hello"));
    fs::File::open(&object).unwrap().set_modified(SystemTime::now() - Duration::from_secs(7200)).unwrap();
    assert_eq!(missing_or_damaged(&store, &record), (vec![], 1));
    assert_eq!(missing_or_damaged(&store, &record), (vec![], 0), "it is remembered");
    // A stage that reads it now must not find another file at the end.
    let output = &record.outputs["text"];
    let before = store.snapshot(output).unwrap();
    stored(&store, "b");
    assert_eq!(store.snapshot(output).unwrap(), before);
    // And once it is changed, it is not what is remembered.
    overwrite(&object, "hallo");
    assert_eq!(missing_or_damaged(&store, &record).0.len(), 1);
}

#[test]
fn objects_of_one_size_that_changed_places_are_found() {
    let (_folder, store) = new_store();
    let record = stored(&store, "a");
    let (one, two) = (store.object_path(&of("one")), store.object_path(&of("two")));
    let aside = store.root().join("aside");
    fs::rename(&one, &aside).unwrap();
    fs::rename(&two, &one).unwrap();
    fs::rename(&aside, &two).unwrap();
    let (found, _) = missing_or_damaged(&store, &record);
    assert_eq!(found.iter().filter(|missing| missing.damage.is_some()).count(), 2, "{found:?}");
}

#[test]
fn what_is_no_file_or_no_manifest_any_more_is_damage_and_no_error() {
    type Change = fn(&Path);
    let changes: [Change; 4] = [
        |path| fs::create_dir(path).unwrap(),
        |path| std::os::unix::fs::symlink("/etc/hostname", path).unwrap(),
        |path| fs::write(path, "longer than it was, and not the same").unwrap(),
        // As a failing disk does it: nothing but the bytes changes.
        |path| {
            let digest = layout::digest_of_path(path).unwrap();
            fs::write(path, vec![b'x'; 3]).unwrap();
            cwm_core::DurableFs::default().seal(path, mtime_seal::second_of(&digest, SystemTime::now())).unwrap();
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let (_folder, store) = new_store();
        let record = stored(&store, "a");
        let digest = record.outputs["folder"].digest;
        let object = store.object_path(&digest);
        fs::remove_file(&object).unwrap();
        change(&object);
        let (found, _) = missing_or_damaged(&store, &record);
        assert_eq!(found.len(), 1, "{number}: {found:?}");
        assert_eq!(found[0].digest, digest);
        store.quarantine_damaged(found[0].damage.as_ref().unwrap()).unwrap().unwrap();
        stored(&store, "a");
        assert_eq!(missing_or_damaged(&store, &record).0, []);
    }
}

#[test]
fn what_was_put_right_meanwhile_is_not_set_aside() {
    let (_folder, store) = new_store();
    let record = stored(&store, "a");
    overwrite(&store.object_path(&of("hello")), "hallo");
    let (found, _) = missing_or_damaged(&store, &record);
    stored(&store, "b");
    assert_eq!(store.quarantine_damaged(found[0].damage.as_ref().unwrap()).unwrap(), None);
    assert_eq!(fs::read_to_string(store.object_path(&of("hello"))).unwrap(), "hello");
    fs::remove_file(store.object_path(&of("hello"))).unwrap();
    assert_eq!(store.quarantine_damaged(found[0].damage.as_ref().unwrap()).unwrap(), None);
}

#[test]
fn an_object_changed_to_the_same_size_with_its_time_put_back_is_found() {
    let (_folder, store) = new_store();
    let record = stored(&store, "a");
    await_tick(&store, &record);
    let object = store.object_path(&of("hello"));
    let time = fs::metadata(&object).unwrap().modified().unwrap();
    overwrite(&object, "hallo");
    fs::File::open(&object).unwrap().set_modified(time).unwrap();
    let (found, _) = missing_or_damaged(&store, &record);
    assert_eq!(found.iter().map(|one| one.digest).collect::<Vec<_>>(), [of("hello")]);
    store.quarantine_damaged(found[0].damage.as_ref().unwrap()).unwrap().unwrap();
    // The same content, newer than the record, is hashed once, and is right.
    stored(&store, "a");
    assert_eq!(missing_or_damaged(&store, &record), (vec![], 1));
    assert_eq!(missing_or_damaged(&store, &record), (vec![], 0));
}

#[test]
fn a_record_of_the_same_content_does_not_vouch_for_a_changed_object_with_its_time_put_back() {
    let (_folder, store) = new_store();
    let first = stored(&store, "a");
    await_tick(&store, &first);
    let object = store.object_path(&of("hello"));
    let time = fs::metadata(&object).unwrap().modified().unwrap();
    overwrite(&object, "hallo");
    fs::File::open(&object).unwrap().set_modified(time).unwrap();
    let second = stored(&store, "b");
    assert_eq!(fs::read_to_string(&object).unwrap(), "hello");
    assert_eq!(missing_or_damaged(&store, &second).0, []);
    assert_eq!(missing_or_damaged(&store, &first).0, []);
}

#[test]
fn an_object_with_another_mode_or_a_second_name_is_hashed_once_and_is_no_damage() {
    let (folder, store) = new_store();
    let record = stored(&store, "a");
    await_tick(&store, &record);
    let object = store.object_path(&of("hello"));
    fs::set_permissions(&object, fs::Permissions::from_mode(0o400)).unwrap();
    assert_eq!(missing_or_damaged(&store, &record), (vec![], 1));
    fs::hard_link(&object, folder.path().join("second")).unwrap();
    assert_eq!(missing_or_damaged(&store, &record), (vec![], 1));
    assert_eq!(missing_or_damaged(&store, &record), (vec![], 0));
}

#[test]
fn objects_of_a_copied_store_are_hashed_at_most_once() {
    let (folder, store) = new_store();
    let record = stored(&store, "a");
    for flags in ["-a", "-r"] {
        let copy = folder.path().join(format!("copy{flags}"));
        let done = Command::new("cp").arg(flags).arg(store.root()).arg(&copy).status().unwrap();
        assert!(done.success());
        let copy = Store::at(&copy).unwrap();
        let (missing, hashed) = missing_or_damaged(&copy, &record);
        assert!(missing.is_empty() && hashed <= 3, "cp {flags}: {hashed} {missing:?}");
        assert_eq!(missing_or_damaged(&copy, &record), (vec![], 0), "cp {flags}, once more");
    }
}

#[test]
fn a_young_change_is_seen_as_well() {
    let (_folder, store) = new_store();
    let record = stored(&store, "a");
    for _ in 0..2 {
        overwrite(&store.object_path(&of("hello")), "hallo");
        let digests = DigestCache::of_store(&store);
        assert_eq!(store.missing_or_damaged(&record, &digests).unwrap().len(), 1);
        overwrite(&store.object_path(&of("hello")), "hello");
        assert_eq!(store.missing_or_damaged(&record, &digests).unwrap(), []);
    }
}
