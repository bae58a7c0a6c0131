//! Inputs that someone changes while they are read.

use std::os::unix::fs::PermissionsExt;

use super::*;

fn snapshot(store: &Store, record: &ActionRecord, output: &str) -> OutputSnapshot {
    store.snapshot(&record.outputs[output]).unwrap()
}

/// Changes an object as one who owns it can: the same size, the mode and the time of change set back.
fn rewrite(object: &Path, content: &str) {
    let before = fs::metadata(object).unwrap();
    assert_eq!(before.len(), content.len() as u64);
    fs::set_permissions(object, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(object, content).unwrap();
    fs::File::options().write(true).open(object).unwrap().set_modified(before.modified().unwrap()).unwrap();
    fs::set_permissions(object, before.permissions()).unwrap();
}

#[test]
fn reading_leaves_a_snapshot_as_it_was() {
    let (_folder, store) = new_store();
    let record = store.record(finished(&store, "a", "hello", &[("x", "one"), ("deep/y", "two")])).unwrap().record;
    for output in ["text", "folder"] {
        let path = path_of(&store, &record, output);
        let before = snapshot(&store, &record, output);
        fs::read(if output == "text" { path } else { path.join("deep/y") }).unwrap();
        // Another key with the same content, meanwhile.
        store.record(finished(&store, output, "hello", &[("x", "one"), ("deep/y", "two")])).unwrap();
        assert_eq!(snapshot(&store, &record, output), before);
    }
}

#[test]
fn an_object_or_a_link_that_was_changed_shows() {
    let (_folder, store) = new_store();
    let record = store.record(finished(&store, "a", "hello", &[("x", "one"), ("deep/y", "two")])).unwrap().record;
    let tree = path_of(&store, &record, "folder");
    let changes: [(&str, &dyn Fn()); 6] = [
        ("text", &|| rewrite(&store.object_path(&Digest::of(b"hello")), "hallo")),
        ("folder", &|| rewrite(&tree.join("deep/y"), "2wo")),
        ("folder", &|| {
            fs::set_permissions(tree.join("x"), fs::Permissions::from_mode(0o666)).unwrap();
        }),
        ("folder", &|| fs::remove_file(store.object_path(&Digest::of(b"one"))).unwrap()),
        ("folder", &|| fs::remove_file(tree.join("x")).unwrap()),
        ("text", &|| fs::remove_file(store.object_path(&Digest::of(b"hello"))).unwrap()),
    ];
    for (index, (output, change)) in changes.iter().enumerate() {
        cwm_core::files::allow_changes(&tree);
        let before = snapshot(&store, &record, output);
        // The times of a file are as coarse as the kernel's tick.
        std::thread::sleep(std::time::Duration::from_millis(20));
        change();
        assert_ne!(snapshot(&store, &record, output), before, "change {index}");
    }
}

#[test]
fn a_second_name_or_another_mode_is_no_change_and_a_write_whose_time_is_set_back_is_one() {
    let (folder, store) = new_store();
    let record = store.record(finished(&store, "a", "hello", &[])).unwrap().record;
    let object = store.object_path(&Digest::of(b"hello"));
    let before = snapshot(&store, &record, "text");
    std::thread::sleep(std::time::Duration::from_millis(20));
    fs::set_permissions(&object, fs::Permissions::from_mode(0o644)).unwrap();
    fs::hard_link(&object, folder.path().join("linked")).unwrap();
    let is_unmodified = || store.verify_unmodified(&record.outputs["text"], &before).unwrap();
    assert!(before != snapshot(&store, &record, "text") && is_unmodified());
    rewrite(&object, "hallo");
    assert!(!is_unmodified());
    assert!(!object.exists(), "it is quarantined");
    store.record(finished(&store, "a", "hello", &[])).unwrap();
    assert!(object.exists() && !is_unmodified(), "another file has its place");
}
