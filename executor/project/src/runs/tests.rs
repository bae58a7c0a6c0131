//! Runs with `--set` beside a pipeline.

use cwm_core::Key;
use jiff::Timestamp;

use super::*;
use crate::lock_file::LockLine;

fn set(values: &[(&str, &str)]) -> SetValues {
    values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Remembers a run with one cell at this second.
fn remember(yaml: &Path, values: &[(&str, &str)], second: i64) -> LockFile {
    let finished = Timestamp::from_second(second).unwrap();
    let mut lock = read_or_create(yaml, &RunHeading { set: set(values), finished, failed: 1 }).unwrap();
    let line = LockLine { key: Key(Digest::of(b"key").0), outputs: [].into() };
    lock.update([("a".parse().unwrap(), line)]);
    assert!(lock.save().unwrap());
    lock
}

#[test]
fn the_nearest_run_has_the_fewest_other_values_and_is_the_last_of_several() {
    let folder = tempfile::tempdir().unwrap();
    let yaml = folder.path().join("pipeline.yaml");
    let nearest = |values| nearest(&yaml, &set(values)).unwrap().path().to_owned();
    assert_eq!(nearest(&[("n", "1")]), lock_path(&yaml, &set(&[("n", "1")])), "nothing is remembered yet");
    let plain = remember(&yaml, &[], 0).path;
    assert_eq!(nearest(&[("n", "1")]), plain);
    let [one, two, both] =
        [(&[("n", "1")][..], 20), (&[("n", "2")], 10), (&[("n", "1"), ("m", "1")], 30)].map(|(values, second)| {
            let lock = remember(&yaml, values, second);
            assert_eq!(nearest(values), lock.path);
            lock.path
        });
    assert_eq!(nearest(&[("n", "3")]), one, "one value differs, and it ran after n=2");
    assert_eq!(nearest(&[("n", "2"), ("k", "1")]), two);
    assert_eq!(nearest(&[("m", "1")]), both);
    assert_eq!(nearest(&[]), plain);
    let listed: Vec<PathBuf> = all(&yaml).unwrap().into_iter().map(|lock| lock.path).collect();
    assert_eq!(listed, [plain, two, one.clone(), both]);
    assert_eq!(std::fs::read_to_string(folder.path().join(".cwm/.gitignore")).unwrap(), "*\n");
    std::fs::write(&one, "cwm-lock: 1\n").unwrap();
    assert!(all(&yaml).unwrap_err().to_string().contains("is not the lock file of a run"));
}

#[test]
fn its_heading_stays_when_lines_change() {
    let folder = tempfile::tempdir().unwrap();
    let yaml = folder.path().join("a.b.yaml");
    let path = remember(&yaml, &[("games", "a \"b\" #c\n.pgn")], 5).path;
    assert_eq!(path.parent().unwrap(), folder.path().join(".cwm/a.b"));
    let mut lock = LockFile::read(&path).unwrap();
    assert_eq!(find(&yaml, &name(&lock)).unwrap().unwrap().path, path);
    assert_eq!(name(&remember(&yaml, &[], 6)), RUN_WITHOUT_SET);
    assert_eq!(lock.problems(), []);
    let run = lock.run().unwrap();
    assert_eq!((run.set["games"].as_str(), run.failed), ("a \"b\" #c\n.pgn", 1));
    lock.keep_only(|_| false);
    assert!(lock.save().unwrap());
    assert_eq!(LockFile::read(&path).unwrap().run(), Some(run.clone()));
    assert_eq!(lock.run(), Some(run));
}
