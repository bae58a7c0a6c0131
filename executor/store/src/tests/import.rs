//! Records whose files are elsewhere, as a job puts them into the store of its run.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::external_files::DigestCache;

/// A result in a store of its own, with the record's bytes as others get them.
fn elsewhere(name: &str, text: &str) -> (Folder, Store, ActionRecord, Vec<u8>) {
    let (folder, store) = new_store();
    let record = store.record(finished(&store, name, text, &[("x", "1")])).unwrap().record;
    let bytes = store.shared_record(&record).unwrap();
    (folder, store, record, bytes)
}

#[test]
fn a_record_comes_home_without_its_files_and_misses_nothing_by_that() {
    let (_there, _, record, bytes) = elsewhere("a", "text");
    let (_here, store) = new_store();
    assert_eq!(store.import_records(&record.key, vec![(record.clone(), bytes.clone())], "lab").unwrap(), 1);
    let found = store.preferred_record(&record.key, None).unwrap().unwrap();
    assert_eq!((found.evicted, &found.outputs), (Some(EvictionReason::NotPulled), &record.outputs));
    assert_eq!(store.remote_of_unpulled(&found).unwrap().as_deref(), Some("lab"));
    assert!(store.verify(None, |_, _| {}).unwrap().findings.is_empty());
    // Once more, as by a job that was started twice.
    assert_eq!(store.import_records(&record.key, vec![(record.clone(), bytes)], "lab").unwrap(), 0);
}

#[test]
fn what_was_lost_here_and_is_with_a_remote_is_no_damage() {
    let (_here, store) = new_store();
    let record = store.record(finished(&store, "a", "text", &[])).unwrap().record;
    store.mark_remote_only(&record, &DigestCache::without_cache(), "lab").unwrap();
    assert_eq!(store.preferred_record(&record.key, None).unwrap().unwrap().evicted, None, "all of it is here");
    fs::remove_file(store.object_path(&record.outputs["text"].digest)).unwrap();
    assert!(!store.verify(None, |_, _| {}).unwrap().findings.is_empty());
    store.mark_remote_only(&record, &DigestCache::without_cache(), "lab").unwrap();
    assert_eq!(store.preferred_record(&record.key, None).unwrap().unwrap().evicted, Some(EvictionReason::NotPulled));
    assert!(store.verify(None, |_, _| {}).unwrap().findings.is_empty());
}

#[test]
fn of_what_is_known_by_its_url_the_last_that_came_stands_last() {
    let (_one, _, first, first_bytes) = elsewhere("a", "first");
    let (_other, _, second, second_bytes) = elsewhere("a", "second");
    let (_here, store) = new_store();
    for (record, bytes) in
        [(&first, &first_bytes), (&second, &second_bytes), (&second, &second_bytes), (&first, &first_bytes)]
    {
        store.import_latest(&record.key, record, bytes.clone(), "lab").unwrap();
    }
    let outputs: Vec<_> = store.actions(&first.key).unwrap().iter().map(ActionRecord::output_digests).collect();
    assert_eq!(outputs, [&first, &second, &first].map(ActionRecord::output_digests));
}

#[test]
fn content_that_is_read_once_is_stored_once() {
    use std::os::unix::fs::MetadataExt;
    let (_folder, store) = new_store();
    // Of several blocks, and read in other pieces.
    let text: Vec<u8> = (0..3_000_000u32).map(|byte| (byte % 251) as u8).collect();
    let ingest = || {
        let (first, rest) = text.split_at(1_234_567);
        store.ingest(Path::new("-"), &mut io::Read::chain(first, rest)).unwrap()
    };
    let (digest, size) = ingest();
    assert_eq!((digest, size), (Digest::of(&text), text.len() as u64));
    let place = store.object_path(&digest);
    let inode = fs::metadata(&place).unwrap().ino();
    assert_eq!(ingest(), (digest, size));
    assert_eq!(fs::metadata(&place).unwrap().ino(), inode, "a sound object stays");
    assert_eq!(fs::read(place).unwrap(), text);
    assert!(names_in(&store.folder("temporary")).is_empty());
}

#[test]
fn what_was_changed_is_set_aside_and_then_missing() {
    let (_here, store) = new_store();
    let record = store.record(finished(&store, "a", "text", &[])).unwrap().record;
    let (output, files) = (&record.outputs["text"], DigestCache::without_cache());
    store.quarantine_changed(output, &files).unwrap();
    assert!(missing(&store, &record).is_empty());
    let path = store.object_path(&output.digest);
    fs::remove_file(&path).unwrap();
    fs::write(&path, "tixt").unwrap();
    store.quarantine_changed(output, &files).unwrap();
    assert!(!path.exists() && missing(&store, &record).len() == 1);
}

/// For root, who may write to what is read-only, this tells less.
#[test]
fn a_part_that_is_about_to_get_its_name_is_somebody_elses_and_one_that_was_left_is_begun_anew() {
    let (_here, store) = new_store();
    let digest = Digest::of(b"whole");
    let part = store.partial_object(&digest).unwrap().unwrap();
    fs::write(&part.path, "whole").unwrap();
    let path = part.path.clone();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    assert!(store.partial_object(&digest).unwrap().is_none(), "it is held");
    assert_eq!(fs::read(&path).unwrap(), b"whole");
    // Its process was killed.
    drop(part);
    let part = store.partial_object(&digest).unwrap().unwrap();
    fs::write(&part.path, "whole").unwrap();
    store.place_objects(vec![part]).unwrap();
    assert_eq!(fs::read(store.object_path(&digest)).unwrap(), b"whole");
}
