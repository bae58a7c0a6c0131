//! External files change, and must not be believed too soon.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use tempfile::TempDir;

use super::*;
use cwm_core::{Digest, Stat};

/// A clock that stops at so many milliseconds after a file's last change.
#[derive(Clone)]
struct FixedClock {
    nanoseconds: Arc<AtomicU64>,
    /// The number of times that it was asked: once for each file that is read.
    asked: Arc<AtomicU64>,
}

impl FixedClock {
    fn after(path: &Path, milliseconds: u64) -> FixedClock {
        let clock = FixedClock { nanoseconds: Arc::default(), asked: Arc::default() };
        clock.set_after(path, milliseconds);
        clock
    }

    fn set_after(&self, path: &Path, milliseconds: u64) {
        let stat = Stat::of(path).unwrap();
        let newest = stat.mtime_ns.max(stat.ctime_ns).unsigned_abs();
        self.nanoseconds.store(newest + milliseconds * 1_000_000, Ordering::SeqCst);
    }

    /// Returns the number of files that were read since the last call.
    fn take_read(&self) -> u64 {
        self.asked.swap(0, Ordering::SeqCst)
    }
}

fn file(folder: &TempDir, content: &str) -> PathBuf {
    let path = folder.path().join("games.pgn");
    fs::write(&path, content).unwrap();
    path
}

/// As of the store `folder`.
fn files(folder: &TempDir, clock: &FixedClock) -> DigestCache {
    fs::write(folder.path().join("format"), "1\n").unwrap();
    let FixedClock { nanoseconds, asked } = clock.clone();
    let now = move || {
        asked.fetch_add(1, Ordering::SeqCst);
        UNIX_EPOCH + Duration::from_nanos(nanoseconds.load(Ordering::SeqCst))
    };
    DigestCache::with(Some(folder.path().join("external_files.cache")), Box::new(now))
}

#[test]
fn a_young_file_is_hashed_again_next_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "1. e4");
    let clock = FixedClock::after(&path, 1_999);
    let files = files(&folder, &clock);
    assert_eq!(files.digest(&path).unwrap(), Digest::of(b"1. e4"));
    // Within the same second, the same size: on a coarse file system only the content differs.
    fs::write(&path, "1. d4").unwrap();
    assert_eq!(files.digest(&path).unwrap(), Digest::of(b"1. d4"));
    assert_eq!(files.digest(&path).unwrap(), Digest::of(b"1. d4"));
    assert_eq!(clock.take_read(), 3);
    assert!(!files.snapshot(&path).unwrap().is_stable);
    assert!(!files.save(), "nothing about a young file is remembered");
}

#[test]
fn a_settled_file_is_hashed_once_also_by_the_next_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "1. e4");
    let clock = FixedClock::after(&path, 2_000);
    let first = files(&folder, &clock);
    first.digest(&path).unwrap();
    first.digest(&path).unwrap();
    assert_eq!(clock.take_read(), 1);
    assert!(first.save());
    assert!(!first.save(), "written only when something was learnt");
    let second = files(&folder, &clock);
    assert_eq!(second.digest(&path).unwrap(), Digest::of(b"1. e4"));
    assert_eq!(clock.take_read(), 0);
}

#[test]
fn nothing_is_written_into_a_folder_that_is_not_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "1. e4");
    let clock = FixedClock::after(&path, 2_000);
    let files = files(&folder, &clock);
    files.digest(&path).unwrap();
    fs::remove_file(folder.path().join("format")).unwrap();
    assert!(!files.save());
    assert!(!folder.path().join("external_files.cache").exists());
    // New entries are written as soon as there is a store.
    fs::write(folder.path().join("format"), "1\n").unwrap();
    assert!(files.save());
}

#[test]
fn a_touched_file_is_hashed_once_more_and_its_digest_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "1. e4");
    let clock = FixedClock::after(&path, 2_000);
    let files = files(&folder, &clock);
    let before = files.snapshot(&path).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(UNIX_EPOCH).unwrap();
    clock.set_after(&path, 2_000);
    assert_eq!(files.digest(&path).unwrap(), before.digest);
    files.digest(&path).unwrap();
    assert_eq!(clock.take_read(), 2);
    assert!(before.is_unchanged().unwrap());
}

#[test]
fn a_file_replaced_by_one_with_the_same_size_and_time_is_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "1. e4");
    let clock = FixedClock::after(&path, 2_000);
    let files = files(&folder, &clock);
    let before = files.snapshot(&path).unwrap();
    let other = folder.path().join("other");
    fs::write(&other, "1. d4").unwrap();
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    fs::File::options().write(true).open(&other).unwrap().set_modified(modified).unwrap();
    fs::rename(&other, &path).unwrap();
    assert_eq!(files.digest(&path).unwrap(), Digest::of(b"1. d4"));
    assert!(!before.is_unchanged().unwrap());
}

#[test]
fn a_snapshot_knows_what_changed_and_what_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "1. e4");
    // Young: the file system's word is not enough, so the content is read.
    let young = files(&folder, &FixedClock::after(&path, 0)).snapshot(&path).unwrap();
    assert!(young.is_unchanged().unwrap());
    fs::write(&path, "1. d4").unwrap();
    assert!(!young.is_unchanged().unwrap());
    fs::write(&path, "1. e4").unwrap();
    assert!(young.is_unchanged().unwrap());
    fs::remove_file(&path).unwrap();
    assert!(!young.is_unchanged().unwrap());
}

#[test]
fn a_damaged_cache_is_made_anew_and_vouches_for_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "1. e4");
    let clock = FixedClock::after(&path, 2_000);
    let cache = folder.path().join("external_files.cache");
    let first = files(&folder, &clock);
    first.digest(&path).unwrap();
    first.save();
    clock.take_read();
    let good = fs::read(&cache).unwrap();
    for damaged in [
        good.iter().map(|byte| if *byte == b'1' { b'2' } else { *byte }).collect(),
        good[..good.len() - 2].to_vec(),
        b"\xff\xfe".to_vec(),
        Vec::new(),
        b"cwm external files 1\n".to_vec(),
    ] {
        fs::write(&cache, &damaged).unwrap();
        let files = files(&folder, &clock);
        assert_eq!(files.digest(&path).unwrap(), Digest::of(b"1. e4"));
        assert_eq!(clock.take_read(), 1);
        assert!(files.save());
        assert_eq!(fs::read(&cache).unwrap(), good);
    }
}

#[test]
fn two_processes_keep_what_each_learnt_and_forget_what_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = ["a", "b", "c"].iter().map(|name| folder.path().join(name)).collect();
    for path in &paths {
        fs::write(path, path.to_string_lossy().as_bytes()).unwrap();
    }
    let clock = FixedClock::after(&paths[2], 2_000);
    let (first, second) = (files(&folder, &clock), files(&folder, &clock));
    first.digest(&paths[0]).unwrap();
    first.digest(&paths[1]).unwrap();
    second.digest(&paths[2]).unwrap();
    first.save();
    fs::remove_file(&paths[1]).unwrap();
    second.save();
    assert_eq!(clock.take_read(), 3);
    let third = files(&folder, &clock);
    third.digest(&paths[0]).unwrap();
    third.digest(&paths[2]).unwrap();
    assert_eq!(clock.take_read(), 0);
    assert_eq!(third.sizes().len(), 2, "the files that are there");
}

#[test]
fn a_folder_is_refused_and_an_empty_file_is_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let digests = DigestCache::without_cache();
    assert!(digests.digest(folder.path()).unwrap_err().to_string().contains("not a plain file"));
    assert_eq!(digests.digest(&file(&folder, "")).unwrap(), Digest::of(b""));
    assert!(digests.digest(&folder.path().join("absent")).is_err());
}
