//! Copies for people: whole, theirs to change, and never in the way of what they made.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::*;
use crate::external_files::DigestCache;

fn export(store: &Store, record: &ActionRecord, output: &str, to: &Path) -> Result<ExportOutcome> {
    store.export(output, &record.outputs[output], to, &BTreeMap::new(), &DigestCache::without_cache())
}

#[test]
fn a_folder_is_copied_as_a_whole_and_replaced_as_a_whole() {
    let (folder, store) = new_store();
    let report = folder.path().join("deep/report");
    let action = finished(&store, "a", "hello", &[("index.html", "one"), ("tables/t.md", "two"), ("run.sh", "#!")]);
    let script = store.work_folder(&key("a")).out().join("folder/run.sh");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    let first = store.record(action).unwrap().record;
    let exported = export(&store, &first, "folder", &report).unwrap();
    assert_eq!(exported, ExportOutcome { path: report.clone(), is_written: true, is_replacement: false });
    assert_eq!(names_in(&report), [".cwm-export", "index.html", "run.sh", "tables"]);
    assert_eq!(fs::read_to_string(report.join("tables/t.md")).unwrap(), "two");
    let mode = |name| fs::metadata(report.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("index.html"), mode("run.sh")), (0o644, 0o755));
    assert_eq!(fs::metadata(report.join("index.html")).unwrap().nlink(), 1, "never a hard link");
    fs::write(report.join("index.html"), "mine").unwrap();
    assert_eq!(fs::read_to_string(path_of(&store, &first, "folder").join("index.html")).unwrap(), "one");
    assert!(export(&store, &first, "folder", &report).unwrap().is_written, "an edited copy is made again");

    assert!(!export(&store, &first, "folder", &report).unwrap().is_written, "nothing to do");
    let second = store.record(finished(&store, "b", "hello", &[("index.html", "new")])).unwrap().record;
    assert!(export(&store, &second, "folder", &report).unwrap().is_replacement);
    assert_eq!(names_in(&report), [".cwm-export", "index.html"], "what is no longer in it is gone");
    assert_eq!(fs::read_to_string(report.join("index.html")).unwrap(), "new");
    fs::remove_file(report.join("index.html")).unwrap();
    assert!(export(&store, &second, "folder", &report).unwrap().is_written, "a removed copy is made again");
    assert_eq!(names_in(&folder.path().join("deep")), ["report"], "nothing temporary stays");
}

#[test]
fn what_is_added_to_a_copy_stands_in_no_store() {
    let (folder, store) = new_store();
    let report = folder.path().join("report");
    let record = store.record(finished(&store, "a", "hello", &[("index.html", "one"), ("b", "two")])).unwrap().record;
    let export = |added: &[(&str, &str)]| {
        let added = added.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect();
        store
            .export("folder", &record.outputs["folder"], &report, &added, &DigestCache::without_cache())
            .unwrap()
            .is_written
    };
    let added = [("index.html", "one and more"), ("c.json", "{}")];
    assert!(export(&added));
    let read = |name| fs::read_to_string(report.join(name)).unwrap();
    assert_eq!([read("index.html"), read("b"), read("c.json")], ["one and more", "two", "{}"]);
    assert_eq!(fs::read_to_string(path_of(&store, &record, "folder").join("index.html")).unwrap(), "one");
    let before = fs::metadata(report.join("index.html")).unwrap().ino();
    assert!(!export(&added), "nothing to do");
    assert_eq!(fs::metadata(report.join("index.html")).unwrap().ino(), before);
    assert!(export(&[("index.html", "one and most"), ("c.json", "{}")]), "only what is added differs");
    assert!(export(&[]));
    assert_eq!(names_in(&report), [".cwm-export", "b", "index.html"]);
    assert_eq!(read("index.html"), "one");
}

#[test]
fn what_cwm_did_not_write_is_never_replaced() {
    let (folder, store) = new_store();
    let report = folder.path().join("report");
    let first = store.record(finished(&store, "a", "hello", &[("index.html", "one")])).unwrap().record;
    let second = store.record(finished(&store, "b", "hello", &[("index.html", "two")])).unwrap().record;

    fs::create_dir(&report).unwrap();
    fs::write(report.join("thesis.tex"), "x").unwrap();
    let message = export(&store, &first, "folder", &report).unwrap_err().to_string();
    assert!(message.contains("thesis.tex exists, and no export wrote it"), "{message}");
    fs::remove_file(report.join("thesis.tex")).unwrap();
    assert!(export(&store, &first, "folder", &report).unwrap().is_written, "an empty folder is nobody's");

    fs::create_dir(report.join("mine")).unwrap();
    fs::write(report.join("mine/notes.txt"), "x").unwrap();
    let message = export(&store, &second, "folder", &report).unwrap_err().to_string();
    assert!(message.contains("mine/notes.txt exists, and no export wrote it"), "{message}");
    fs::remove_dir_all(report.join("mine")).unwrap();

    let inner = folder.path().join("outer/inner");
    export(&store, &first, "folder", &inner).unwrap();
    let message = export(&store, &second, "folder", inner.parent().unwrap()).unwrap_err().to_string();
    assert!(message.contains("inner is another export"), "{message}");
    fs::remove_dir_all(inner.parent().unwrap()).unwrap();

    let elsewhere = folder.path().join("elsewhere");
    fs::rename(&report, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &report).unwrap();
    let message = export(&store, &second, "folder", &report).unwrap_err().to_string();
    assert!(message.contains("is not a folder"), "{message}");
    assert_eq!(fs::read_to_string(elsewhere.join("index.html")).unwrap(), "one");
    assert_eq!(names_in(folder.path()), ["artifacts", "elsewhere", "report"]);
}

#[test]
fn an_edited_copy_is_overwritten_as_the_list_says() {
    let (folder, store) = new_store();
    let record = store.record(finished(&store, "a", "hello", &[("index.html", "one")])).unwrap().record;
    for (output, copy) in [("folder", "index.html"), ("text", "text.txt")] {
        let to = folder.path().join(output);
        export(&store, &record, output, &to).unwrap();
        let before = fs::read_to_string(to.join(copy)).unwrap();
        fs::write(to.join(copy), "edited by hand").unwrap();
        assert!(export(&store, &record, output, &to).unwrap().is_replacement);
        assert_eq!(fs::read_to_string(to.join(copy)).unwrap(), before);
        assert!(fs::read_to_string(to.join(".cwm-export")).unwrap().contains("overwrites what is changed"));
    }
}

#[test]
fn links_in_an_exported_folder_are_not_followed() {
    let (folder, store) = new_store();
    let report = folder.path().join("report");
    let first = store.record(finished(&store, "a", "hello", &[("deep/x", "one")])).unwrap().record;
    let second = store.record(finished(&store, "b", "hello", &[("deep/x", "two")])).unwrap().record;
    export(&store, &first, "folder", &report).unwrap();
    let mine = folder.path().join("mine");
    fs::create_dir(&mine).unwrap();
    fs::write(mine.join("x"), "mine").unwrap();
    fs::remove_dir_all(report.join("deep")).unwrap();
    std::os::unix::fs::symlink(&mine, report.join("deep")).unwrap();
    let message = export(&store, &second, "folder", &report).unwrap_err().to_string();
    assert!(message.contains("deep exists, and no export wrote it"), "{message}");
    fs::remove_file(report.join("deep")).unwrap();
    fs::create_dir(report.join("deep")).unwrap();
    std::os::unix::fs::symlink(mine.join("x"), report.join("deep/x")).unwrap();
    assert!(export(&store, &second, "folder", &report).unwrap().is_replacement);
    assert_eq!(fs::read_to_string(report.join("deep/x")).unwrap(), "two");
    assert_eq!(fs::read_to_string(mine.join("x")).unwrap(), "mine");
}

#[test]
fn files_are_exported_side_by_side() {
    let (folder, store) = new_store();
    let to = folder.path().join("results");
    let first = store.record(finished(&store, "a", "hello", &[("x", "one")])).unwrap().record;
    let second = store.record(finished(&store, "b", "changed", &[])).unwrap().record;
    let exported = export(&store, &first, "text", &to).unwrap();
    assert_eq!(exported, ExportOutcome { path: to.join("text.txt"), is_written: true, is_replacement: false });
    assert!(!export(&store, &first, "text", &to).unwrap().is_written);
    fs::write(to.join("notes.txt"), "mine").unwrap();
    assert!(export(&store, &second, "text", &to).unwrap().is_replacement);
    assert_eq!(fs::read_to_string(to.join("text.txt")).unwrap(), "changed");
    assert_eq!(names_in(&to), [".cwm-export", "notes.txt", "text.txt"]);
    assert!(export(&store, &first, "folder", &to).unwrap_err().to_string().contains("single files"));

    let fresh = folder.path().join("fresh");
    fs::create_dir(&fresh).unwrap();
    fs::write(fresh.join("text.txt"), "mine").unwrap();
    assert!(export(&store, &first, "text", &fresh).unwrap_err().to_string().contains("no export wrote it"));
}

#[test]
fn an_export_killed_at_any_step_leaves_the_old_or_the_new_one() {
    let (folder, store) = new_store();
    let report = folder.path().join("report");
    let files = |text| [("index.html", text), ("table.md", text)];
    let records = [("a", "old"), ("b", "new")]
        .map(|(name, text)| store.record(finished(&store, name, text, &files(text))).unwrap().record);
    for last in 0.. {
        export(&store, &records[0], "folder", &report).unwrap();
        let steps = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let count = steps.clone();
        let hook: cwm_core::files::Hook = Arc::new(move |_, _, _| {
            if count.fetch_add(1, Ordering::SeqCst) < last { Ok(()) } else { Err(io::Error::other("killed")) }
        });
        drop(export(&store.clone().with_fault_injection(hook), &records[1], "folder", &report));
        let text = fs::read_to_string(report.join("index.html")).unwrap();
        assert!(["old", "new"].contains(&text.as_str()));
        assert_eq!(fs::read_to_string(report.join("table.md")).unwrap(), text, "never half of each");
        if steps.load(Ordering::SeqCst) <= last {
            assert!(last > 3);
            break;
        }
    }
    export(&store, &records[0], "folder", &report).unwrap();
    export(&store, &records[1], "folder", &report).unwrap();
    assert_eq!(names_in(folder.path()), ["artifacts", "report"], "the next export takes away what the kills left");
}

/// Killed between the list and the copy, a third result came next, and was refused: what stood there was neither.
#[test]
fn a_file_whose_export_was_killed_at_any_step_is_replaced_by_any_later_one() {
    let (folder, store) = new_store();
    let records = [("a", "old"), ("b", "new"), ("c", "third")]
        .map(|(name, text)| store.record(finished(&store, name, text, &[])).unwrap().record);
    for last in 0.. {
        let to = folder.path().join(format!("results {last}"));
        export(&store, &records[0], "text", &to).unwrap();
        let steps = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let count = steps.clone();
        let hook: cwm_core::files::Hook = Arc::new(move |_, _, _| {
            if count.fetch_add(1, Ordering::SeqCst) < last { Ok(()) } else { Err(io::Error::other("killed")) }
        });
        let killed = store.clone().with_fault_injection(hook);
        let text = || fs::read_to_string(to.join("text.txt")).unwrap();
        drop(export(&killed, &records[1], "text", &to));
        assert!(["old", "new"].contains(&text().as_str()));
        // Killed once more, before the first step that would change the copy.
        drop(export(&killed, &records[1], "text", &to));
        export(&store, &records[2], "text", &to).unwrap();
        assert_eq!(text(), "third");
        if steps.load(Ordering::SeqCst) <= last {
            assert!(last > 2);
            break;
        }
    }
}

#[test]
fn nothing_is_exported_into_the_store() {
    let (folder, store) = new_store();
    let record = store.record(finished(&store, "a", "hello", &[("x", "one")])).unwrap().record;
    std::os::unix::fs::symlink(store.root(), folder.path().join("link")).unwrap();
    let before = names_in(store.root());
    for output in ["text", "folder"] {
        for to in [
            store.root().to_owned(),
            store.root().join("report"),
            store.root().join("objects/00/deep"),
            folder.path().join("link/report"),
            folder.path().join("link/deep/report"),
        ] {
            let error = export(&store, &record, output, &to).unwrap_err();
            assert!(error.to_string().contains("is in the store itself"), "{error}");
            assert!(error.hint().unwrap().contains("outside"));
        }
    }
    assert_eq!(names_in(store.root()), before);
    assert!(store.verify(None, |_, _| {}).unwrap().findings.is_empty());
    assert!(export(&store, &record, "folder", &folder.path().join("artifacts-report")).unwrap().is_written);
}

#[test]
fn damaged_content_is_not_exported() {
    let (folder, store) = new_store();
    let record = store.record(finished(&store, "a", "hello", &[("x", "one")])).unwrap().record;
    for (content, damaged) in [("hello", "hallo"), ("one", "1ne")] {
        let object = store.object_path(&Digest::of(content.as_bytes()));
        fs::set_permissions(&object, fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(&object, damaged).unwrap();
    }
    let to = folder.path().join("results");
    for output in ["text", "folder"] {
        let error = export(&store, &record, output, &to).unwrap_err();
        assert_eq!(error.kind(), FileErrorKind::Damaged, "{error}");
        assert!(error.hint().unwrap().contains("cwm store verify"));
        assert_eq!(if to.exists() { names_in(&to) } else { Vec::new() }, Vec::<String>::new());
    }
}

#[test]
fn several_who_export_to_one_place_at_once_are_in_nobodys_way() {
    let (folder, store) = new_store();
    let record = |name: &str| store.record(finished(&store, name, name, &[("x", name)])).unwrap().record;
    let records = ["a", "b", "c", "d"].map(record);
    let (place, root) = (folder.path().join("out"), store.root().to_owned());
    std::thread::scope(|scope| {
        for at in 0..records.len() {
            let (records, place, root) = (&records, &place, &root);
            scope.spawn(move || {
                // As another process does it: with descriptors of its own.
                let store = Store::at(root).unwrap();
                for round in 0..40 {
                    let record = &records[(at + round) % records.len()];
                    export(&store, record, "text", place).unwrap();
                    export(&store, record, "folder", &place.join("deep")).unwrap();
                }
            });
        }
    });
    for record in &records {
        assert!(export(&store, record, "text", &place).is_ok());
        assert!(export(&store, record, "folder", &place.join("deep")).is_ok());
    }
    assert_eq!(names_in(&place), [".cwm-export", "deep", "text.txt"], "nothing temporary stays");
}

#[test]
fn what_a_killed_export_left_goes_also_when_there_is_nothing_to_export() {
    let (folder, store) = new_store();
    let record = store.record(finished(&store, "a", "hello", &[("x", "one")])).unwrap().record;
    let place = folder.path().join("out");
    let export_both = || ["text", "folder"].map(|output| export(&store, &record, output, &place.join(output)).unwrap());
    export_both();
    for left in ["text/.cwm-text.txt-Ab12Cd", ".cwm-folder-Ab12Cd"] {
        fs::create_dir(place.join(left)).unwrap();
        fs::write(place.join(left).join("x"), "one").unwrap();
    }
    assert!(export_both().iter().all(|exported| !exported.is_written));
    assert_eq!(names_in(&place), ["folder", "text"]);
    assert_eq!(names_in(&place.join("text")), [".cwm-export", "text.txt"]);
}

#[test]
fn what_is_in_the_way_is_found_before_anything_is_written() {
    let (folder, store) = new_store();
    let record = store.record(finished(&store, "a", "hello", &[("x", "one")])).unwrap().record;
    let to = folder.path().join("out");
    let check = |output: &str| {
        let checked = store.export_preflight(output, Some(&record.outputs[output].shape), &to);
        checked.map_err(|error| error.to_string().split(' ').skip(1).collect::<Vec<_>>().join(" "))
    };
    assert_eq!((check("text"), check("folder")), (Ok(()), Ok(())), "nothing is there");
    assert!(!to.exists());
    export(&store, &record, "text", &to).unwrap();
    assert_eq!((check("text"), check("folder")), (Ok(()), Err("holds exports of single files".into())));
    fs::remove_dir_all(&to).unwrap();
    export(&store, &record, "folder", &to).unwrap();
    assert_eq!(check("folder"), Ok(()));
    assert_eq!(check("text"), Err("is as a whole an export of another output".into()));
    fs::remove_file(to.join(".cwm-export")).unwrap();
    fs::write(to.join("text.txt"), "mine").unwrap();
    for output in ["text", "folder"] {
        assert_eq!(check(output), Err("exists, and no export wrote it".into()), "{output}");
    }
    assert_eq!(store.export_preflight("x", None, &to).map_err(|error| error.to_string()), Ok(()));
    assert_eq!(names_in(&to), ["text.txt", "x"]);
}
