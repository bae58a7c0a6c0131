//! Work folders.

use std::os::unix::fs::PermissionsExt;

use super::*;

#[test]
fn a_start_finds_out_and_tmp_empty_and_keep_as_it_was() {
    let (_folder, store) = new_store();
    let work = store.work_folder(&key("a"));
    assert!(!work.path.exists());
    work.write_action(&BTreeMap::from([("stage", "parse")])).unwrap();
    work.prepare(1).unwrap();
    assert_eq!(names_in(&work.path), ["action.json", "checkpoints", "out", "tmp"]);
    for folder in [work.out(), work.tmp(), work.checkpoint_folder()] {
        fs::create_dir(folder.join("deep")).unwrap();
        fs::write(folder.join("deep/half-written"), "x").unwrap();
    }
    fs::create_dir(work.path.join("in")).unwrap();
    fs::write(work.log(), "of an earlier attempt").unwrap();
    // A stage may leave folders that even their owner cannot write.
    fs::set_permissions(work.out().join("deep"), fs::Permissions::from_mode(0o555)).unwrap();
    work.prepare(1).unwrap();
    assert_eq!(names_in(&work.path), ["action.json", "checkpoints", "out", "tmp"]);
    assert_eq!(names_in(&work.out()), Vec::<String>::new());
    assert_eq!(names_in(&work.tmp()), Vec::<String>::new());
    assert_eq!(fs::read_to_string(work.checkpoint_folder().join("deep/half-written")).unwrap(), "x");
    assert_eq!(work.read_action::<BTreeMap<String, String>>().unwrap()["stage"], "parse");
    work.remove_checkpoints().unwrap();
    assert_eq!(names_in(&work.checkpoint_folder()), Vec::<String>::new());
}

#[test]
fn a_stamp_says_who_wrote_what_is_kept() {
    let (_folder, store) = new_store();
    let work = store.work_folder(&key("a"));
    work.prepare(1).unwrap();
    assert_eq!(work.read_stamp().unwrap(), None);
    let stamp = CheckpointStamp { format: 1, binary: "abc".into(), device: "cpu".into() };
    work.write_stamp(&stamp).unwrap();
    work.prepare(1).unwrap();
    assert_eq!(work.read_stamp().unwrap(), Some(stamp));
    fs::write(work.checkpoint_folder().join(".stamp"), "{").unwrap();
    assert_eq!(work.read_stamp().unwrap_err().kind(), FileErrorKind::Damaged);
}

#[test]
fn what_was_kept_in_another_store_is_known_until_the_next_start() {
    let (_folder, store) = new_store();
    let work = store.work_folder(&key("a"));
    work.prepare(1).unwrap();
    assert!(!work.has_remote_checkpoints());
    work.mark_remote_checkpoints().unwrap();
    assert!(work.has_remote_checkpoints() && work.checkpoints().unwrap().is_empty());
    work.prepare(2).unwrap();
    assert!(!work.has_remote_checkpoints());
}

#[test]
fn a_removal_is_whole_and_garbage_where_it_was_killed() {
    let (_folder, store) = new_store();
    let (a, b) = (store.work_folder(&key("a")), store.work_folder(&key("b")));
    a.prepare(1).unwrap();
    b.prepare(1).unwrap();
    fs::write(a.checkpoint_folder().join("checkpoint"), "x").unwrap();
    let hook: cwm_core::files::Hook = Arc::new(|step, path, _| match step {
        cwm_core::files::Step::Remove if path.is_dir() => Err(io::Error::other("killed")),
        _ => Ok(()),
    });
    assert!(store.clone().with_fault_injection(hook).work_folder(&key("a")).remove().is_err());
    assert!(!a.path.exists(), "nothing half removed can be taken for kept work");
    assert_eq!(names_in(&store.folder("garbage")).len(), 1);
    b.remove().unwrap();
    assert_eq!(names_in(&store.folder("work")), Vec::<String>::new());
    store.delete_garbage().unwrap();
    assert_eq!(names_in(&store.folder("garbage")), Vec::<String>::new());
    b.remove().unwrap();
}

#[test]
fn a_failed_stage_s_output_goes_and_what_it_kept_stays() {
    let (_folder, store) = new_store();
    let work = store.work_folder(&key("a"));
    work.discard_output().unwrap();
    work.prepare(1).unwrap();
    for folder in [work.out(), work.tmp(), work.checkpoint_folder()] {
        fs::create_dir(folder.join("deep")).unwrap();
        fs::write(folder.join("deep/half-written"), "x").unwrap();
    }
    fs::write(work.log(), "why it failed").unwrap();
    work.discard_output().unwrap();
    assert_eq!(names_in(&work.out()), Vec::<String>::new());
    assert_eq!(names_in(&work.tmp()), Vec::<String>::new());
    assert_eq!(names_in(&work.checkpoint_folder()), ["deep"]);
    assert_eq!(fs::read_to_string(work.log()).unwrap(), "why it failed");
}

#[test]
fn an_action_that_a_full_disk_refuses_is_written_where_an_abandoned_output_stood() {
    let (_folder, store) = new_store();
    let work = store.work_folder(&key("a"));
    work.prepare(1).unwrap();
    fs::write(work.out().join("partial"), "x").unwrap();
    fs::write(work.checkpoint_folder().join("checkpoint"), "x").unwrap();
    // A disk that has room for nothing as long as the partial output is there.
    let partial = work.out().join("partial");
    let there = partial.clone();
    let hook: cwm_core::files::Hook = Arc::new(move |step, _, _| match step {
        cwm_core::files::Step::Write if there.exists() => Err(io::ErrorKind::StorageFull.into()),
        _ => Ok(()),
    });
    let full = store.clone().with_fault_injection(hook).work_folder(&key("a"));
    let action = BTreeMap::from([("stage", "parse")]);

    let held = store.try_lock_key(&key("a"), "a run that still goes on").unwrap().unwrap();
    assert_eq!(full.write_action(&action).unwrap_err().kind(), FileErrorKind::DiskFull);
    assert!(partial.exists(), "it is in use");
    drop(held);
    full.write_action(&action).unwrap();
    assert_eq!(names_in(&work.out()), Vec::<String>::new());
    assert_eq!(names_in(&work.checkpoint_folder()), ["checkpoint"]);
}

#[test]
fn a_tree_that_two_remove_at_the_same_time_is_gone_and_nobody_minds() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..60 {
        let tree = folder.path().join(format!("tree-{round}"));
        for number in 0..12 {
            let inner = tree.join(format!("a/{number}/b"));
            fs::create_dir_all(&inner).unwrap();
            fs::write(inner.join("file"), "x").unwrap();
            if number % 4 == 0 {
                fs::set_permissions(&inner, fs::Permissions::from_mode(0o555)).unwrap();
            }
        }
        let begin = std::sync::Barrier::new(3);
        std::thread::scope(|scope| {
            let remove = || {
                begin.wait();
                cwm_core::DurableFs::default().remove(&tree)
            };
            let others = [scope.spawn(remove), scope.spawn(remove)];
            remove().unwrap();
            others.into_iter().for_each(|other| other.join().unwrap().unwrap());
        });
        assert!(!tree.exists());
    }
}

#[test]
fn what_somebody_removed_after_it_was_seen_to_be_a_folder_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a file");
    fs::write(&file, "x").unwrap();
    let error = cwm_core::DurableFs::default().make_folders(&file).unwrap_err();
    assert!(error.to_string().ends_with("a file is not a folder"), "{error}");
    assert!(error.hint().unwrap().contains("cwm store verify"));
    cwm_core::DurableFs::default().remove(&folder.path().join("nothing")).unwrap();
    let below_a_file = cwm_core::DurableFs::default().remove(&file.join("x"));
    assert!(below_a_file.is_err(), "a folder that is none is reported");
}
