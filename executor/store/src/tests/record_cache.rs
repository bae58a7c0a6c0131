//! Records are remembered from run to run, and believed only while nothing on disk has changed.

use std::time::{Duration, SystemTime};

use super::*;
use crate::record_cache::RecordCache;

/// So many records are worth writing.
const MANY: usize = 100;

fn later() -> SystemTime {
    SystemTime::now() + Duration::from_secs(3)
}

/// The store with its cache of records, three seconds from now.
fn opened_later(store: &Store) -> Store {
    let cache = RecordCache::read(store.root(), later);
    Store { record_cache: Some(std::sync::Arc::new(cache)), ..Store::at(store.root()).unwrap() }
}

/// A store with this many records, and their keys.
fn store_with(count: usize) -> (Folder, Store, Vec<Key>) {
    let (folder, store) = new_store();
    let keys = (0..count).map(|number| {
        let name = format!("s{number}");
        store.record(finished(&store, &name, &name, &[])).unwrap();
        key(&name)
    });
    let keys = keys.collect();
    (folder, store, keys)
}

/// The store as a process finds it that asks for all keys, three seconds from now; whether it wrote its cache.
fn next_run(store: &Store, keys: &[Key]) -> (Store, bool) {
    let store = opened_later(store);
    keys.iter().for_each(|key| assert_eq!(store.actions(key).unwrap().len(), 1));
    let written = store.save_record_cache();
    (store, written)
}

/// The only record's file of a key.
fn record_file(store: &Store, key: &Key) -> PathBuf {
    store.record_files(key).unwrap().remove(0).path
}

fn set_content(file: &Path, content: &[u8]) {
    fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    fs::write(file, content).unwrap();
}

#[test]
fn many_records_are_read_once_and_are_the_same_from_the_cache() {
    let (_folder, store, keys) = store_with(MANY);
    assert!(next_run(&store, &keys).1);
    let cache = store.root().join("records.cache");
    let before = fs::read(&cache).unwrap();
    let (again, written) = next_run(&store, &keys);
    assert!(!written && fs::read(&cache).unwrap() == before, "nothing was learnt, and nothing is written");
    for key in &keys {
        assert_eq!(again.actions(key).unwrap(), store.actions(key).unwrap());
    }
}

#[test]
fn the_files_are_not_read_again_while_they_are_the_same() {
    let (_folder, store, keys) = store_with(MANY);
    next_run(&store, &keys);
    let opened = opened_later(&store);
    let seen = opened.record_cache.as_ref().unwrap();
    let proven = keys.iter().filter(|key| seen.get_if_unchanged(key).is_some());
    assert_eq!(proven.count(), MANY);
}

#[test]
fn few_records_and_young_ones_are_not_written() {
    let (_folder, store, keys) = store_with(MANY - 1);
    assert!(!next_run(&store, &keys).1, "so few are sooner read again");
    let (_folder, store, keys) = store_with(MANY);
    let now = Store::at(store.root()).unwrap().with_record_cache();
    keys.iter().for_each(|key| drop(now.actions(key).unwrap()));
    assert!(!now.save_record_cache(), "a change in this instant would leave no trace");
}

#[test]
fn what_is_removed_added_or_changed_is_noticed() {
    let (_folder, store, keys) = store_with(MANY);
    next_run(&store, &keys);
    let asked = opened_later(&store);

    fs::remove_file(record_file(&store, &keys[0])).unwrap();
    assert_eq!(asked.actions(&keys[0]).unwrap(), []);

    fs::remove_dir_all(store.action_folder(&keys[1])).unwrap();
    assert_eq!(asked.actions(&keys[1]).unwrap(), []);

    store.record(finished(&store, "s2", "other bytes", &[])).unwrap();
    assert_eq!(asked.actions(&keys[2]).unwrap().len(), 2);

    let file = record_file(&store, &keys[3]);
    let mut bytes = fs::read(&file).unwrap();
    bytes[10] ^= 1;
    set_content(&file, &bytes);
    assert_eq!(asked.actions(&keys[3]).unwrap_err().kind(), FileErrorKind::Damaged);
}

#[test]
fn a_damaged_cache_vouches_for_nothing_and_is_made_anew() {
    let (_folder, store, keys) = store_with(MANY);
    next_run(&store, &keys);
    let cache = store.root().join("records.cache");
    let good = fs::read(&cache).unwrap();
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 1;
    let newer = [b"cwm records 3\n".as_slice(), &good[14..]].concat();
    for damaged in [flipped, good[..good.len() - 1].to_vec(), good[..20].to_vec(), newer, Vec::new()] {
        fs::write(&cache, &damaged).unwrap();
        assert!(next_run(&store, &keys).1);
        assert_eq!(fs::read(&cache).unwrap(), good);
    }
}

#[test]
fn what_another_pipeline_asked_for_stays() {
    let (_folder, store, keys) = store_with(2 * MANY);
    let (first, second) = keys.split_at(MANY);
    assert!(next_run(&store, first).1 && next_run(&store, second).1);
    assert!(!next_run(&store, &keys).1);
}
