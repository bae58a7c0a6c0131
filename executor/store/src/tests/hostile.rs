//! Outputs that the store refuses, and anything that may be in a store that others can write.

use super::*;

/// Records an action whose only output `out` is what `make` makes; the message of the refusal.
fn refusal(shape: OutputShape, make: impl FnOnce(&Path)) -> String {
    let (_folder, store) = new_store();
    let mut action = finished(&store, "a", "unused", &[]);
    let out = store.work_folder(&key("a")).out().join("out");
    make(&out);
    action.outputs = BTreeMap::from([("out".to_owned(), made(out, shape))]);
    let error = store.record(action).unwrap_err();
    assert_eq!(store.actions(&key("a")).unwrap(), []);
    error.to_string()
}

#[test]
fn links_and_special_files_are_refused() {
    use std::os::unix::fs::symlink;
    let folder = |make: fn(&Path)| {
        refusal(OutputShape::Folder, |out| {
            fs::create_dir_all(out.join("deep")).unwrap();
            make(&out.join("deep"));
        })
    };
    assert!(refusal(text_file(), |out| symlink("/etc/hostname", out).unwrap()).contains("symbolic link"));
    assert!(refusal(OutputShape::Folder, |out| symlink("/etc", out).unwrap()).contains("symbolic link"));
    assert!(folder(|deep| symlink("x", deep.join("link")).unwrap()).contains("symbolic link"));
    let pipe = folder(|deep| {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, deep.join("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    });
    assert!(pipe.contains("not a plain file"), "{pipe}");
    let hard = folder(|deep| {
        fs::write(deep.join("a"), "x").unwrap();
        fs::hard_link(deep.join("a"), deep.join("b")).unwrap();
    });
    assert!(hard.contains("second name"), "{hard}");
}

#[test]
fn names_that_cannot_travel_are_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = |names: &[&[u8]]| {
        refusal(OutputShape::Folder, |out| {
            fs::create_dir(out).unwrap();
            for name in names {
                fs::write(out.join(OsStr::from_bytes(name)), "x").unwrap();
            }
        })
    };
    assert!(folder(&[b"\xff"]).contains("not UTF-8"));
    assert!(folder(&[b"a\nb"]).contains("control"));
    assert!(folder(&[b"Readme", b"README"]).contains("only in case"));
}

#[test]
fn an_output_is_there_and_of_its_shape() {
    assert!(refusal(text_file(), |_| {}).contains("not written"));
    assert!(refusal(text_file(), |out| fs::create_dir(out).unwrap()).contains("declared as a file"));
    assert!(refusal(OutputShape::Folder, |out| fs::write(out, "x").unwrap()).contains("declared as a folder"));
}

#[test]
fn a_store_that_lost_its_format_is_one_again() {
    let (folder, store) = new_store();
    let before = store.record(finished(&store, "a", "text", &[])).unwrap().record;
    for name in ["runs", "batches", "bin"] {
        fs::create_dir(store.root().join(name)).unwrap();
    }
    fs::write(store.root().join("records.cache"), "").unwrap();
    for lost in [false, true] {
        fs::remove_file(store.root().join("format")).unwrap();
        if !lost {
            std::os::unix::fs::symlink("nowhere", store.root().join("format")).unwrap();
        }
        let found = Store::at(&folder.path().join("artifacts")).unwrap();
        assert!(!found.exists());
        found.create().unwrap();
        assert_eq!(fs::read_to_string(found.root().join("format")).unwrap(), "1\n");
        assert_eq!(found.actions(&before.key).unwrap(), std::slice::from_ref(&before));
    }
    // Such a name alone says nothing of whose folder it is.
    let other = folder.path().join("other");
    fs::create_dir_all(other.join("bin")).unwrap();
    let refused = Store::at(&other).map(drop).unwrap_err().to_string();
    assert!(refused.contains("is not a store: it holds `bin`"), "{refused}");
}

#[test]
fn a_folder_of_others_is_not_made_a_store() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.tex"), "x").unwrap();
    let message = Store::at(folder.path()).map(drop).unwrap_err().to_string();
    assert!(message.contains("not a store") && message.contains("thesis.tex"), "{message}");
    assert_eq!(names_in(folder.path()), ["thesis.tex"]);

    let checked_out = tempfile::tempdir().unwrap();
    fs::write(checked_out.path().join("README.md"), "ours\n").unwrap();
    Store::at(checked_out.path()).unwrap().create().unwrap();
    assert_eq!(fs::read_to_string(checked_out.path().join("README.md")).unwrap(), "ours\n");
}

#[test]
fn git_ignores_a_store_that_is_created_in_a_working_tree() {
    let (_outside, store) = new_store();
    store.create().unwrap();
    assert!(!store.root().join(".gitignore").exists());

    let tree = tempfile::tempdir().unwrap();
    fs::create_dir(tree.path().join(".git")).unwrap();
    let root = tree.path().join("deep/artifacts");
    let ignored = root.join(".gitignore");
    let store = Store::at(&root).unwrap();
    store.create().unwrap();
    assert_eq!(fs::read_to_string(&ignored).unwrap(), "*\n");
    assert!(store.verify(None, |_, _| {}).unwrap().findings.is_empty());
    // Without its `format` the store is created again, and a changed file stays as it is.
    fs::remove_file(root.join("format")).unwrap();
    fs::write(&ignored, "mine\n").unwrap();
    Store::at(&root).unwrap().create().unwrap();
    assert_eq!(fs::read_to_string(&ignored).unwrap(), "mine\n");
}

#[test]
fn a_record_of_the_first_format_is_read() {
    let (_folder, store) = new_store();
    let mut record = store.record(finished(&store, "a", "hello", &[])).unwrap().record;
    record.run_info.is_resumed = true;
    let reference = ExternalReference { path: "/far/a.pgn".into(), from_store: None };
    record.outputs.values_mut().for_each(|output| output.external = Some(reference.clone()));
    let text = serde_json::to_string(&record).unwrap();
    let mut old = text.replacen("\"format\":2", "\"format\":1", 1);
    for (name, before) in [("run_info", "circumstances"), ("is_resumed", "goes_on"), ("external", "outside")] {
        assert!(old.contains(&format!("\"{name}\":")), "{old}");
        old = old.replace(&format!("\"{name}\":"), &format!("\"{before}\":"));
    }
    let read = ActionRecord::decode(Path::new("it"), old.as_bytes()).unwrap();
    assert_eq!(ActionRecord { format: record.format, ..read }, record);
}

#[test]
fn newer_formats_are_refused_in_words() {
    let (_folder, store) = new_store();
    let record = store.record(finished(&store, "a", "hello", &[])).unwrap().record;
    // A record of the future, under its right name.
    let mut future = serde_json::to_value(&record).unwrap();
    future["format"] = 3.into();
    future["outputs"] = "elsewhere".into();
    let bytes = serde_json::to_vec(&future).unwrap();
    let name = record::record_file_name(2, &Digest::of(&bytes));
    fs::write(store.action_folder(&key("a")).join(name), &bytes).unwrap();
    let error = store.actions(&key("a")).unwrap_err();
    assert_eq!(error.kind(), FileErrorKind::TooNew);
    assert!(error.to_string().contains("format 3 of an action record"), "{error}");
    assert!(store.record(finished(&store, "a", "other", &[])).unwrap().is_new, "it is no reason to lose a result");

    fs::write(store.root().join("format"), "2\n").unwrap();
    let error = Store::at(store.root()).err().unwrap();
    assert_eq!(error.kind(), FileErrorKind::TooNew);
    assert!(error.to_string().contains("format 2 of the store"), "{error}");
    for garbage in [&b"banana"[..], b"", b"-1", b"1.5", b"\xff\xfe"] {
        fs::write(store.root().join("format"), garbage).unwrap();
        let error = Store::at(store.root()).err().unwrap();
        assert!(error.to_string().contains("version of a store"), "{error}");
        let hint = error.hint().unwrap();
        assert!(hint.contains("--store") && hint.contains("delete"), "{hint}");
        assert!(!hint.contains("verify"), "which dies of the same: {hint}");
    }
}

#[test]
fn a_record_that_is_not_what_was_written_is_not_believed() {
    let (_folder, store) = new_store();
    store.record(finished(&store, "a", "hello", &[])).unwrap();
    store.record(finished(&store, "b", "hello", &[])).unwrap();
    let folder = |name| store.action_folder(&key(name));
    let file = |name| folder(name).join(&names_in(&folder(name))[0]);
    // One result passed off as another's.
    let stolen = folder("b").join(file("a").file_name().unwrap());
    fs::copy(file("a"), stolen).unwrap();
    assert!(store.actions(&key("b")).unwrap_err().to_string().contains("another key"));

    let mut bytes = fs::read(file("a")).unwrap();
    bytes[20] ^= 1;
    fs::remove_file(file("a")).ok();
    let name = folder("a").join("0001-".to_owned() + &Digest::of(b"x").to_string() + ".json");
    fs::write(name, bytes).unwrap();
    let error = store.actions(&key("a")).unwrap_err();
    assert_eq!(error.kind(), FileErrorKind::Damaged);
    assert!(error.hint().unwrap().contains("cwm store verify"));
}

#[test]
fn a_manifest_that_leaves_its_folder_is_refused() {
    let (_folder, store) = new_store();
    store.create().unwrap();
    let text = format!("cwm-folder 1\n[\"../../escape\",\"{}\",0,false]\n", Digest::of(b""));
    let digest = Digest::of(text.as_bytes());
    store.ingest(Path::new("-"), &mut text.as_bytes()).unwrap();
    let output = OutputRecord { digest, size: 0, shape: OutputShape::Folder, format: Format::ANY, external: None };
    let error = store.path_of(&output, &crate::external_files::DigestCache::without_cache()).unwrap_err();
    assert!(error.to_string().contains("`..`"), "{error}");
    assert_eq!(names_in(&store.root().join("trees")), Vec::<String>::new());
}

#[test]
fn a_store_that_lost_folders_gets_them_back_at_the_next_write() {
    for (lost, keeps_results) in [
        (&["objects", "actions"][..], false),
        (&["locks", "temporary", "work", "quarantine", "trees"], true),
        (&["objects", "actions", "trees", "locks", "temporary", "work", "quarantine"], false),
    ] {
        let (_folder, store) = new_store();
        let record = store.record(finished(&store, "a", "hello", &[("x", "one")])).unwrap().record;
        for folder in lost {
            cwm_core::DurableFs::default().remove(&store.root().join(folder)).unwrap();
        }
        let store = Store::at(store.root()).unwrap();
        assert!(store.verify(None, |_, _| {}).unwrap().findings.is_empty(), "{lost:?}");
        assert_eq!(store.actions(&key("a")).unwrap().len(), usize::from(keeps_results), "{lost:?}");
        let again = store.record(finished(&store, "a", "hello", &[("x", "one")])).unwrap();
        assert_eq!(again.is_new, !keeps_results);
        assert_eq!(again.record.outputs, record.outputs);
        assert_eq!(missing(&store, &record), []);
        assert_eq!(fs::read_to_string(path_of(&store, &record, "folder").join("x")).unwrap(), "one");
        assert!(store.try_lock_key(&key("a"), "test").unwrap().is_some());
        assert!(store.verify(None, |_, _| {}).unwrap().findings.is_empty());
    }
}

#[test]
fn a_file_in_the_place_of_a_shard_is_damage_with_what_to_do() {
    let (_folder, store) = new_store();
    store.create().unwrap();
    for path in [store.object_path(&Digest::of(b"one")), store.action_folder(&key("a"))] {
        let shard = path.parent().unwrap();
        fs::write(shard, "in the way").unwrap();
        let error = store.record(finished(&store, "a", "hello", &[("x", "one")])).unwrap_err();
        assert!(error.hint().unwrap().contains("cwm store verify"), "{error}");
        assert!(store.verify(None, |_, _| {}).unwrap().findings.iter().any(|finding| finding.path == shard));
    }
    assert!(store.record(finished(&store, "a", "hello", &[("x", "one")])).unwrap().is_new);
    assert!(store.verify(None, |_, _| {}).unwrap().findings.is_empty());
}
