//! Locks end with whoever holds them, and name them meanwhile.

use std::process::Command;

use super::*;

#[test]
fn a_key_has_one_owner_who_is_named() {
    let (_folder, store) = new_store();
    let other = Store::at(store.root()).unwrap();
    assert_eq!(store.lock_owner(&key("a")).unwrap(), None);
    let lock = store.try_lock_key(&key("a"), "cwm run paper.yaml").unwrap().unwrap();
    assert!(other.try_lock_key(&key("a"), "other").unwrap().is_none());
    assert!(other.try_lock_key(&key("b"), "other").unwrap().is_some(), "another key is free");
    let owner = other.lock_owner(&key("a")).unwrap().unwrap();
    let process = format!("`cwm run paper.yaml`, process {} on ", std::process::id());
    assert!(owner.starts_with(&process), "{owner}");
    drop(lock);
    // A test beside this one may just be starting a child, which has our descriptors until it is another program.
    assert!(other.lock_key(&key("a"), "other", |_| true).unwrap().is_some());
}

#[test]
fn who_waits_is_reported_for_whom_and_may_give_up() {
    let (_folder, store) = new_store();
    let _lock = store.try_lock_key(&key("a"), "cwm run paper.yaml").unwrap().unwrap();
    let mut reported = Vec::new();
    let none = store
        .lock_key(&key("a"), "other", |owner| {
            reported.push(owner.unwrap().to_owned());
            reported.len() < 3
        })
        .unwrap();
    assert!(none.is_none());
    assert_eq!(reported.len(), 3);
    assert!(reported.iter().all(|owner| owner.starts_with("`cwm run paper.yaml`, process ")), "{reported:?}");
}

#[test]
fn a_child_keeps_the_lock_until_it_is_killed() {
    let (_folder, store) = new_store();
    let lock = store.try_lock_key(&key("a"), "parent").unwrap().unwrap();
    lock.share_with_children().unwrap();
    let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
    drop(lock);
    assert!(store.try_lock_key(&key("a"), "other").unwrap().is_none(), "the child can still write");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(store.lock_key(&key("a"), "other", |_| true).unwrap().is_some());
}

#[test]
fn a_lock_file_removed_meanwhile_is_not_believed() {
    let (_folder, store) = new_store();
    let path = store.lock_path(&key("a").to_string());
    let old = store.try_lock_key(&key("a"), "old").unwrap().unwrap();
    fs::remove_file(&path).unwrap();
    let new = store.try_lock_key(&key("a"), "new").unwrap().unwrap();
    // The lock of the old file is distinguished from that of the file at the path.
    assert!(!super::super::locks::still_exists(&path, &old.file));
    assert!(super::super::locks::still_exists(&path, &new.file));
    drop(old);
    assert!(store.try_lock_key(&key("a"), "third").unwrap().is_none(), "the one who has the file that is there");
    drop(new);
}

#[test]
fn many_plan_at_once_and_one_cleans_alone() {
    let (_folder, store) = new_store();
    assert!(store.lock_shared(|_| {}).is_ok(), "also where there is no store yet");
    store.create().unwrap();
    let first = store.lock_shared(|_| {}).unwrap();
    let second = store.lock_shared(|_| panic!("those who plan do not wait for each other")).unwrap();
    let (reported, waiting) = std::sync::mpsc::channel();
    let alone = std::thread::scope(|scope| {
        let store = &store;
        let cleaner = scope.spawn(move || store.lock_exclusive("cwm store gc", || reported.send(()).unwrap()).unwrap());
        waiting.recv().unwrap();
        drop((first, second));
        cleaner.join().unwrap()
    });

    let (reported, waiting) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let store = &store;
        let planner = scope.spawn(move || store.lock_shared(|owner| reported.send(owner.to_owned()).unwrap()).is_ok());
        assert!(waiting.recv().unwrap().contains("cwm store gc"));
        drop(alone);
        assert!(planner.join().unwrap());
    });
}
