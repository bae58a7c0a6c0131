//! Random stores and roots, undisturbed and killed at every step.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cwm_contract::{FetchRequest, FetchResult, Format, Label, Value};
use jiff::Timestamp;
use proptest::prelude::*;
use tempfile::TempDir;

use super::time_span::{days, time_before};
use super::*;
use cwm_core::files::Hook;
use cwm_core::{Components, Digest, KEY_FORMAT};
use cwm_project::lock_file::{LockFile, LockLine};
use cwm_store::{
    ActionRecord, DigestCache, EvictionReason, NewAction, NewOutput, OutputContent, OutputShape, RunInfo, Store,
};

const NOW: fn() -> Timestamp = Timestamp::now;

/// A machine without batch jobs.
const NO_JOBS: BatchJobs = BatchJobs { pending_keys: |_| Default::default(), garbage: |_, _| Vec::new() };

fn wish() -> GcOptions {
    GcOptions { keep: days(0), max_size: None, sources: false }
}

fn new_store() -> (TempDir, Store) {
    // In memory where there is such a place: a hundred stores sync thousands of times.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let store = Store::at(&folder.path().join("artifacts")).unwrap();
    (folder, store)
}

/// Records the result of the stage `name`: the file `text`, and the folder `folder` with these files. One that was
/// `fetched` is external.
fn made(store: &Store, name: &str, text: &str, folder: &[String], fetched: bool) -> ActionRecord {
    let components = Components {
        key_format: KEY_FORMAT,
        contract: 1,
        kind: "command".into(),
        code: BTreeMap::new(),
        parameters: BTreeMap::from([("run".into(), Value::Text(name.into()))]),
        inputs: BTreeMap::new(),
    };
    let work = store.work_folder(&components.key());
    work.prepare(1).unwrap();
    fs::write(work.out().join("text"), text).unwrap();
    fs::create_dir(work.out().join("folder")).unwrap();
    for (index, content) in folder.iter().enumerate() {
        fs::write(work.out().join("folder").join(index.to_string()), content).unwrap();
    }
    // Logs are often equal, as empty ones are.
    fs::write(work.log(), format!("log of {}", text.chars().take(1).collect::<String>())).unwrap();
    let output = |file: &str, shape| NewOutput {
        format: Format::ANY,
        shape,
        content: OutputContent::Local(work.out().join(file)),
    };
    let fetch = FetchRequest { url: "https://example.org/x".into(), first_bytes: None };
    let came = FetchResult { fetch, sha256: "0".repeat(64), bytes: 1 };
    let fetched = if fetched { vec![came] } else { Vec::new() };
    let record = ActionRecord::new("pipeline".into(), Label::stage(name), components, RunInfo::default());
    let outputs = BTreeMap::from([
        ("text".into(), output("text", OutputShape::File { extension: String::new() })),
        ("folder".into(), output("folder", OutputShape::Folder)),
    ]);
    let record = ActionRecord { fetched, ..record };
    let recorded = store.record(NewAction { record, outputs, log: Some(work.log()) });
    work.remove().unwrap();
    recorded.unwrap().record
}

fn line(record: &ActionRecord) -> (Label, LockLine) {
    (record.label.clone(), LockLine { key: record.key, outputs: record.output_digests() })
}

/// The lock file `name` beside the store, which has seen it, names these results.
fn lock(store: &Store, name: &str, records: &[&ActionRecord]) {
    let path = store.root().with_file_name(name);
    let mut lock = LockFile::read(&path).unwrap();
    lock.keep_only(|_| false);
    lock.update(
        records
            .iter()
            .map(|record| (record.label.clone(), LockLine { key: record.key, outputs: record.output_digests() })),
    );
    fs::write(&path, lock.text()).unwrap();
    record_run(store, &path, [], true, true).unwrap();
}

fn objects(store: &Store) -> BTreeSet<Digest> {
    store.inventory().unwrap().objects.into_keys().collect()
}

/// All that a result consists of; its log counts.
fn content(store: &Store, record: &ActionRecord) -> BTreeSet<Digest> {
    let folder = record.outputs["folder"].digest;
    let inside = store.manifest(&folder).unwrap();
    let own = record.outputs.values().map(|output| output.digest);
    own.chain(inside.files().values().map(|file| file.digest)).chain(record.log).collect()
}

fn is_whole(store: &Store, record: &ActionRecord) -> bool {
    store.missing(record, &DigestCache::without_cache()).unwrap().is_empty()
}

fn assert_clean(store: &Store) {
    let report = store.verify(None, |_, _| {}).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

/// Found by killing: the records but the last one were not marked, and `verify` called them damaged.
#[test]
fn content_that_several_share_goes_and_all_of_them_say_so() {
    let (_folder, store) = new_store();
    let records = ["a", "b", "c"].map(|name| made(&store, name, "same", &["same".into()], false));
    let done = collect(&store, &NO_JOBS, wish(), NOW(), || {}).unwrap();
    assert!(!done.is_empty() && objects(&store).is_empty());
    for record in &records {
        assert_eq!(store.actions(&record.key).unwrap()[0].evicted, Some(EvictionReason::Collected), "{}", record.label);
    }
    assert_clean(&store);
}

/// A hook after whose `last` steps nothing happens any more, as after `kill -9`.
fn killed_after(last: usize) -> (Hook, Arc<AtomicUsize>) {
    let steps = Arc::new(AtomicUsize::new(0));
    let count = steps.clone();
    let killed =
        move || if count.fetch_add(1, Ordering::SeqCst) < last { Ok(()) } else { Err(io::Error::other("killed")) };
    (Arc::new(move |_, _: &Path, _| killed()), steps)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn what_roots_name_is_complete_and_nothing_else_stays(
        // Of each stage: its text, its folder, whether it was fetched, and what names it.
        stages in prop::collection::vec(("[a-d]", prop::collection::vec("[a-f]", 0..4), any::<bool>(), 0u8..5), 1..8),
        sources in any::<bool>(),
    ) {
        let (_folder, store) = new_store();
        store.create().unwrap();
        let records: Vec<ActionRecord> = stages
            .iter()
            .enumerate()
            .map(|(index, (text, folder, fetched, _))| made(&store, &format!("s{index}"), text, folder, *fetched))
            .collect();
        let named = |by: u8| -> Vec<&ActionRecord> {
            records.iter().zip(&stages).filter(|(_, stage)| stage.3 == by).map(|(record, _)| record).collect()
        };
        lock(&store, "one.lock", &named(0));
        lock(&store, "two.lock", &named(1));
        if !named(2).is_empty() {
            tags::write(&store, "kept", named(2).into_iter().map(line), false).unwrap();
        }
        let wanted: Vec<&ActionRecord> = records
            .iter()
            .zip(&stages)
            .filter(|(_, stage)| stage.3 < 3 || (stage.2 && !sources))
            .map(|(record, _)| record)
            .collect();
        let reachable: BTreeSet<Digest> = wanted.iter().flat_map(|record| content(&store, record)).collect();

        let before = objects(&store);
        let said = plan(&store, &NO_JOBS, GcOptions { sources, ..wish() }, NOW()).unwrap();
        prop_assert_eq!(objects(&store), before.clone(), "to look changes nothing");
        let done = collect(&store, &NO_JOBS, GcOptions { sources, ..wish() }, NOW(), || {}).unwrap();
        prop_assert_eq!(&done.report.stages, &said.report.stages);
        prop_assert_eq!(objects(&store), reachable.clone());
        for record in wanted {
            prop_assert!(is_whole(&store, record));
        }
        let freed: u64 = done.report.stages.iter().map(|stage| stage.bytes).sum();
        prop_assert_eq!(freed > 0, before != reachable);
        assert_clean(&store);
        // Records stay, and say that their content was collected.
        for record in &records {
            let again = &store.actions(&record.key).unwrap()[0];
            prop_assert_eq!(&again.outputs, &record.outputs);
            if !is_whole(&store, record) {
                prop_assert_eq!(again.evicted, Some(EvictionReason::Collected));
            }
        }
        let again = collect(&store, &NO_JOBS, GcOptions { sources, ..wish() }, NOW(), || {}).unwrap();
        prop_assert!(again.is_empty(), "{:?}", again);
        // What was let go can be made again, and is then whole and ordinary.
        for (index, (text, folder, fetched, _)) in stages.iter().enumerate() {
            let record = made(&store, &format!("s{index}"), text, folder, *fetched);
            prop_assert!(is_whole(&store, &record));
            prop_assert_eq!(store.actions(&record.key).unwrap()[0].evicted, None);
            prop_assert_eq!(store.actions(&record.key).unwrap().len(), 1);
        }
        assert_clean(&store);
    }
}

#[test]
fn a_collection_killed_at_any_step_leaves_a_valid_store_and_the_next_one_ends_it() {
    let mut killed = 0;
    for last in 0.. {
        let (_folder, store) = new_store();
        let kept = made(&store, "kept", "a", &["b".into(), "shared".into()], false);
        let gone = made(&store, "gone", "c", &["d".into(), "shared".into()], false);
        lock(&store, "pipeline.lock", &[&kept]);
        fs::write(store.root().join("temporary/.cwm-left"), "half").unwrap();
        let reachable = content(&store, &kept);
        let (hook, steps) = killed_after(last);
        let collected = collect(&store.clone().with_fault_injection(hook), &NO_JOBS, wish(), NOW(), || {});
        assert!(is_whole(&store, &kept));
        assert_clean(&store);
        // It is there as a whole, or its record says that it need not be.
        let record = &store.actions(&gone.key).unwrap()[0];
        assert!(is_whole(&store, &gone) || record.evicted == Some(EvictionReason::Collected));
        if steps.load(Ordering::SeqCst) <= last {
            assert!(collected.is_ok());
            break;
        }
        killed += 1;
        collect(&store, &NO_JOBS, wish(), NOW(), || {}).unwrap();
        assert_eq!(objects(&store), reachable);
        assert!(cwm_store::list_folder(&store.root().join("garbage")).unwrap().is_empty());
        assert!(cwm_store::list_folder(&store.root().join("temporary")).unwrap().is_empty());
        assert_clean(&store);
        let again = made(&store, "gone", "c", &["d".into(), "shared".into()], false);
        assert!(is_whole(&store, &again));
    }
    assert!(killed > 12, "a collection has more steps than {killed}");
}

#[test]
fn a_full_disk_does_not_keep_a_collection_from_making_room() {
    use cwm_core::files::Step;
    let (_folder, store) = new_store();
    let kept = made(&store, "kept", "a", &["b".into()], false);
    made(&store, "gone", "c", &["d".into()], false);
    lock(&store, "pipeline.lock", &[&kept]);
    let left = store.root().join("temporary/.cwm-left");
    // With room for nothing, and with room as soon as something was removed.
    for (has_room_later, is_left) in [(false, false), (false, true), (true, true)] {
        if is_left {
            fs::write(&left, "half").unwrap();
        }
        let removed = Arc::new(AtomicUsize::new(0));
        let hook: Hook = Arc::new(move |step, path: &Path, _| {
            let is_note = path.ends_with("locks/store") || path.extension().is_some_and(|end| end == "collected");
            let is_folder = step == Step::MakeFolder && path.parent().is_some_and(|folder| folder.ends_with("garbage"));
            let removed = removed.fetch_add(usize::from(step == Step::Remove), Ordering::SeqCst) > 0;
            let has_room = has_room_later && removed;
            match (step == Step::Write && is_note || is_folder) && !has_room {
                true => Err(io::ErrorKind::StorageFull.into()),
                false => Ok(()),
            }
        });
        let collected = collect(&store.clone().with_fault_injection(hook), &NO_JOBS, wish(), NOW(), || {});
        assert!(!left.exists(), "what needs no mark goes");
        assert_clean(&store);
        assert!(is_whole(&store, &kept));
        match has_room_later {
            true => assert!(collected.is_ok(), "{collected:?}"),
            false => assert_eq!(collected.unwrap_err().kind(), cwm_core::FileErrorKind::DiskFull),
        }
    }
    assert_eq!(objects(&store), content(&store, &kept));
}

#[test]
fn marks_are_on_the_disk_before_anything_goes() {
    use cwm_core::files::Step;
    let (_folder, store) = new_store();
    made(&store, "gone", "c", &["d".into()], false);
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let steps = seen.clone();
    let hook: Hook = Arc::new(move |step, path, _| {
        steps.lock().unwrap().push((step, path.to_owned()));
        Ok(())
    });
    collect(&store.clone().with_fault_injection(hook), &NO_JOBS, wish(), NOW(), || {}).unwrap();
    let seen = seen.lock().unwrap();
    let at = |wanted: &dyn Fn(&(Step, std::path::PathBuf)) -> bool| seen.iter().position(wanted).unwrap();
    let marked = at(&|(step, path)| *step == Step::Write && path.extension().is_some_and(|end| end == "collected"));
    let synced = at(&|(step, path)| *step == Step::Sync && path == store.root());
    let moved = at(&|(step, _)| *step == Step::Rename);
    let removed = at(&|(step, _)| *step == Step::Remove);
    assert!(marked < synced && synced < moved && moved < removed, "{seen:?}");
}

#[test]
fn transfers_that_were_interrupted_lately_stay_and_old_ones_go() {
    let (_folder, store) = new_store();
    let made = made(&store, "kept", "here", &[], false);
    lock(&store, "pipeline.lock", &[&made]);
    let (here, elsewhere) = (made.outputs["text"].digest, Digest::of(b"elsewhere"));
    let begun = |name: String| {
        let path = store.root().join("temporary").join(name);
        fs::write(&path, "half").unwrap();
        path
    };
    let download = begun(format!(".cwm-part-{elsewhere}"));
    let upload = begun(format!(".cwm-upload-0123abcd-{here}"));
    let idle = begun(".cwm-a1b2c3".to_owned());
    let after = |days: i64| NOW().checked_add(jiff::SignedDuration::from_hours(24 * days)).unwrap();
    let lately = collect(&store, &NO_JOBS, wish(), after(13), || {}).unwrap().report;
    assert_eq!((lately.temporary_bytes, lately.transfer_bytes, lately.retained_transfer_bytes), (4, 0, 8));
    assert!(download.exists() && upload.exists() && !idle.exists());
    let kept = collect(&store, &NO_JOBS, GcOptions { keep: days(20), ..wish() }, after(19), || {}).unwrap().report;
    assert_eq!((kept.transfer_bytes, kept.retained_transfer_bytes), (0, 8));
    let late = collect(&store, &NO_JOBS, wish(), after(15), || {}).unwrap().report;
    assert_eq!((late.temporary_bytes, late.transfer_bytes, late.retained_transfer_bytes), (0, 8, 0));
    assert!(!download.exists() && !upload.exists());
    assert!(is_whole(&store, &made));
}

#[test]
fn the_least_recently_used_goes_first_until_it_fits_and_roots_never() {
    let (_folder, store) = new_store();
    let names = ["old", "middle", "young", "root"];
    let records: Vec<ActionRecord> =
        names.iter().map(|name| made(&store, name, &name.repeat(1000), &[], false)).collect();
    for (record, days) in records.iter().zip([30, 20, 10, 40]) {
        let key = record.key.to_string();
        let folder = fs::File::open(store.root().join("actions").join(&key[..2]).join(&key)).unwrap();
        folder.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(days * 86400)).unwrap();
    }
    lock(&store, "pipeline.lock", &[&records[3]]);
    let whole = || -> Vec<bool> { records.iter().map(|record| is_whole(&store, record)).collect() };
    let take = |wish| collect(&store, &NO_JOBS, wish, NOW(), || {}).unwrap();
    take(GcOptions { max_size: Some(1 << 30), ..wish() });
    assert_eq!(whole(), [true, true, true, true]);
    take(GcOptions { max_size: Some(16_500), ..wish() });
    assert_eq!(whole(), [false, true, true, true]);
    take(GcOptions { keep: days(15), ..wish() });
    assert_eq!(whole(), [false, false, true, true]);
    let last = take(GcOptions { max_size: Some(1), ..wish() });
    assert_eq!(whole(), [false, false, false, true]);
    assert!(last.report.retained_bytes > 1);
    // A use is noted once a day.
    store.record_use([records[0].key]).unwrap();
    let used = store
        .inventory()
        .unwrap()
        .records
        .into_iter()
        .find(|entry| entry.record.key == records[0].key)
        .unwrap()
        .last_used;
    assert!(used > time_before(NOW(), days(1)));
}

#[test]
fn a_lock_file_that_is_gone_moved_or_damaged_is_reported_and_what_it_named_stays() {
    let (folder, store) = new_store();
    let record = made(&store, "a", "a", &[], false);
    lock(&store, "pipeline.lock", &[&record]);
    let path = store.root().with_file_name("pipeline.lock");
    let only = |store: &Store, now| {
        let mut roots = roots(store, &NO_JOBS, now).unwrap();
        assert_eq!(roots.len(), 1);
        roots.remove(0)
    };
    assert_eq!(only(&store, NOW()).note, None);
    fs::remove_file(&path).unwrap();
    let gone = only(&store, NOW());
    assert!(gone.note.clone().unwrap().contains("is gone"), "{gone:?}");
    assert_eq!(gone.results, [(Some(record.key), record.output_digests())]);
    let later = NOW().checked_add(jiff::SignedDuration::from_hours(31 * 24)).unwrap();
    let ended = only(&store, later);
    assert!(ended.results.is_empty() && ended.ended.is_some(), "{ended:?}");
    fs::write(&path, "\u{0}\u{1} no lock file").unwrap();
    assert_eq!(only(&store, later).results.len(), 1);
    assert!(only(&store, later).note.unwrap().contains("cannot be read"));
    fs::write(&path, "cwm-lock: 99\n").unwrap();
    assert_eq!(only(&store, later).results.len(), 1);
    // Store and lock file are moved together.
    fs::remove_file(&path).unwrap();
    lock(&store, "pipeline.lock", &[]);
    let moved = folder.path().join("elsewhere");
    fs::create_dir(&moved).unwrap();
    fs::rename(store.root(), moved.join("artifacts")).unwrap();
    fs::rename(&path, moved.join("pipeline.lock")).unwrap();
    let store = Store::at(&moved.join("artifacts")).unwrap();
    assert_eq!(only(&store, later), Root { note: None, ended: None, results: Vec::new(), ..only(&store, later) });
    let roundabout = moved.join("..").join("pipeline.lock");
    assert!(forget(&store, &roundabout).unwrap() && !forget(&store, &path).unwrap());
    assert!(roots(&store, &NO_JOBS, later).unwrap().is_empty());
    let collected = collect(&store, &NO_JOBS, wish(), NOW(), || {}).unwrap();
    assert_eq!(collected.report.stages.len(), 1);
}

#[test]
fn of_a_lock_file_that_cannot_be_read_as_a_whole_what_it_says_and_what_it_said_stays() {
    let (_folder, store) = new_store();
    let records: Vec<ActionRecord> = ["a", "b", "c"].iter().map(|name| made(&store, name, name, &[], false)).collect();
    lock(&store, "pipeline.lock", &[&records[0], &records[1]]);
    let path = store.root().with_file_name("pipeline.lock");
    let whole = fs::read_to_string(&path).unwrap();
    let third = {
        lock(&store, "pipeline.lock", &[&records[2]]);
        fs::read_to_string(&path).unwrap().lines().last().unwrap().to_owned()
    };
    lock(&store, "pipeline.lock", &[&records[0], &records[1]]);
    let second = whole.lines().last().unwrap();
    // `b` on one side of a conflict, and on the other with what `c` has.
    let other_side = third.replacen("\"c\"", "\"b\"", 1);
    let conflict =
        |one: &str, two: &str| whole.replace(second, &format!("<<<<<<< HEAD\n{one}\n=======\n{two}\n>>>>>>> theirs"));
    let without_b = whole.replace(&format!("{second}\n"), "");
    for (what, text, stays) in [
        ("a line that is none", format!("{without_b}{third}\n{}\n", &second[..40]), [true, true, true]),
        ("cut", whole[..whole.len() - 60].to_owned(), [true, true, false]),
        ("empty", String::new(), [true, true, false]),
        ("without its head", without_b.replace("cwm-lock: 1\n", ""), [true, true, false]),
        ("in conflict", conflict(second, &other_side), [true, true, true]),
        ("in conflict the other way", conflict(&other_side, second), [true, true, true]),
        ("sound", without_b, [true, false, false]),
    ] {
        fs::write(&path, text).unwrap();
        let root = roots(&store, &NO_JOBS, NOW()).unwrap().remove(0);
        let named = |record: &ActionRecord| root.results.contains(&(Some(record.key), record.output_digests()));
        assert_eq!([0, 1, 2].map(|index| named(&records[index])), stays, "{what}: {root:?}");
        assert_eq!(root.note.is_some(), what != "sound", "{what}: {root:?}");
        if let Some(note) = root.note {
            assert!(note.contains("cannot be read as a whole (line "), "{what}: {note}");
            // What it said in whole is not forgotten for what is left of it.
            record_run(&store, &path, [], true, true).unwrap();
            let again = roots(&store, &NO_JOBS, NOW()).unwrap().remove(0);
            assert_eq!(again.results, root.results, "{what}");
        }
    }
}

#[test]
fn a_damaged_note_of_a_lock_file_is_set_aside_or_written_anew() {
    let (_folder, store) = new_store();
    let record = made(&store, "a", "a", &[], false);
    lock(&store, "pipeline.lock", &[&record]);
    let path = store.root().with_file_name("pipeline.lock");
    let root = cwm_store::list_folder(&store.folder("roots")).unwrap().remove(0).1;
    assert_eq!(check(&store).unwrap(), []);
    let damage = || {
        let bytes = fs::read(&root).unwrap();
        fs::remove_file(&root).unwrap();
        fs::write(&root, &bytes[..bytes.len() - 20]).unwrap();
        assert!(collect(&store, &NO_JOBS, wish(), NOW(), || {}).is_err());
    };
    damage();
    record_run(&store, &path, [], false, false).unwrap();
    assert_eq!(roots(&store, &NO_JOBS, NOW()).unwrap()[0].results.len(), 1, "a run writes it anew");
    damage();
    let findings = check(&store).unwrap();
    assert_eq!(findings.len(), 1);
    assert!(findings[0].what.contains("it lists the results of a lock file"), "{findings:?}");
    assert!(!root.exists() && findings[0].quarantined.as_ref().unwrap().exists());
    record_run(&store, &path, [], false, false).unwrap();
    collect(&store, &NO_JOBS, wish(), NOW(), || {}).unwrap();
    assert!(is_whole(&store, &record));
    fs::remove_file(&root).unwrap();
    fs::write(&root, "{\"format\": 99, \"other\": 1}").unwrap();
    let newer = check(&store).unwrap();
    assert!(newer[0].what.contains("newer") && newer[0].quarantined.is_none() && root.exists(), "{newer:?}");
}

#[test]
fn a_registered_lock_file_is_a_root_before_and_after_it_is_written() {
    let (_folder, store) = new_store();
    let record = made(&store, "a", "a", &[], false);
    let path = store.root().with_file_name("pipeline.lock");
    register(&store, &path).unwrap();
    let before = roots(&store, &NO_JOBS, NOW()).unwrap().remove(0);
    assert!(before.results.is_empty() && before.note.unwrap().contains("is gone"));
    let mut lock = LockFile::read(&path).unwrap();
    lock.update([(record.label.clone(), LockLine { key: record.key, outputs: record.output_digests() })]);
    fs::write(&path, lock.text()).unwrap();
    let after = roots(&store, &NO_JOBS, NOW()).unwrap();
    assert_eq!((after.len(), after[0].results.len(), &after[0].note), (1, 1, &None));
}

#[test]
fn a_noted_run_writes_nothing_within_the_day() {
    let (_folder, store) = new_store();
    let record = made(&store, "a", "a", &[], false);
    lock(&store, "pipeline.lock", &[&record]);
    let path = store.root().with_file_name("pipeline.lock");
    let root = cwm_store::list_folder(&store.folder("roots")).unwrap().remove(0).1;
    let noted = fs::metadata(&root).unwrap().modified().unwrap();
    record_run(&store, &path, [record.key], false, false).unwrap();
    assert_eq!(fs::metadata(&root).unwrap().modified().unwrap(), noted);
    let yesterday = std::time::SystemTime::now() - std::time::Duration::from_secs(2 * 86400);
    fs::File::open(&root).unwrap().set_modified(yesterday).unwrap();
    record_run(&store, &path, [record.key], false, false).unwrap();
    assert!(fs::metadata(&root).unwrap().modified().unwrap() >= noted);
}

#[test]
fn a_running_stage_and_its_inputs_stay_and_one_that_ended_long_ago_goes() {
    let (_folder, store) = new_store();
    let input = made(&store, "input", "a", &["b".into()], false);
    let old = made(&store, "old", "o", &[], false);
    let components = Components { kind: "other".into(), ..input.components.clone() };
    let work = store.work_folder(&components.key());
    work.prepare(1).unwrap();
    let action = serde_json::json!({
        "format": cwm_action::ACTION_FILE_FORMAT, "key": components.key(), "label": "reader", "pipeline": "pipeline",
        "components": components, "body": {"command": {"run": "", "shell": ["sh"], "environment": {}, "inherited": [], "deps": {}}},
        "inputs": {"in": [{"label": "input", "artifact": {"output": input.outputs["folder"]}}]},
        "outputs": {}, "groups": [], "resources": cwm_contract::Resources::default(), "cause": [], "force": false,
    });
    // A check that failed leaves its folder as well.
    let check = store.attempt_folder(&components.key(), true);
    check.prepare(1).unwrap();
    for folder in [&work, &check] {
        fs::write(folder.action_file(), serde_json::to_vec(&action).unwrap()).unwrap();
    }
    let lock = store.try_lock_key(&components.key(), "test").unwrap().unwrap();
    assert_eq!(cwm_action::ActionFile::read(&work).map(|action| action.label.stage).unwrap(), "reader");
    collect(&store, &NO_JOBS, wish(), NOW(), || {}).unwrap();
    assert!(work.path.exists() && !is_whole(&store, &old));
    let folder = input.outputs["folder"].digest;
    assert_eq!(store.manifest(&folder).unwrap().files().len(), 1);
    assert!(store.object_size(&Digest::of(b"b")).unwrap().is_some(), "what the folder holds");
    assert!(store.object_size(&Digest::of(b"a")).unwrap().is_none(), "what it does not read");
    drop(lock);
    collect(&store, &NO_JOBS, wish(), NOW(), || {}).unwrap();
    assert!(
        work.path.exists() && check.path.exists(),
        "an attempt resumes from its checkpoint, and the log of a check is read"
    );
    let later = NOW().checked_add(jiff::SignedDuration::from_hours(15 * 24)).unwrap();
    let collected = collect(&store, &NO_JOBS, wish(), later, || {}).unwrap();
    assert_eq!(collected.report.work.iter().map(|work| work.label.as_str()).collect::<Vec<_>>(), ["reader", "reader"]);
    assert!(!work.path.exists() && !check.path.exists());
}
