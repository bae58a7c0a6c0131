//! Lock files as people and git leave them.

use std::fs;

use proptest::prelude::*;

use super::*;
use cwm_core::Digest;

fn line(name: &str) -> LockLine {
    let digest = Digest::of(name.as_bytes());
    LockLine { key: Key(digest.0), outputs: BTreeMap::from([("out".to_owned(), digest)]) }
}

fn label(text: &str) -> Label {
    text.parse().unwrap()
}

/// A lock file with these cells, read from `text`.
fn read(folder: &Path, text: &str) -> Result<LockFile, cwm_core::FileError> {
    let path = folder.join("pipeline.lock");
    fs::write(&path, text).unwrap();
    LockFile::read(&path)
}

fn text_of(cells: &[(&str, &str)]) -> String {
    let mut file = LockFile::default();
    file.update(cells.iter().map(|(name, content)| (label(name), line(content))));
    file.text()
}

fn messages(file: &LockFile) -> Vec<(u32, String)> {
    file.problems().iter().map(|problem| (problem.place.line, problem.message.clone())).collect()
}

#[test]
fn the_text_is_what_it_was_and_is_yaml_with_one_line_a_cell() {
    let text = text_of(&[("model[size=d32/l1]", "a"), ("games", "b")]);
    let digest = |name: &str| Digest::of(name.as_bytes());
    let (a, b) = (digest("a"), digest("b"));
    assert_eq!(
        text,
        format!(
            "{}cwm-lock: 1\n\
             \"games\": {{\"key\": \"{b}\", \"outputs\": {{\"out\": \"{b}\"}}}}\n\
             \"model[size=d32/l1]\": {{\"key\": \"{a}\", \"outputs\": {{\"out\": \"{a}\"}}}}\n",
            LockLine::INTRODUCTION
        )
    );
}

#[test]
fn a_file_with_the_comment_of_an_earlier_cwm_is_read() {
    let text = text_of(&[("a", "1")]);
    let text = text.replace(LockLine::INTRODUCTION, "# The results that this pipeline stands for.\n");
    let file = LockFile::parse("pipeline.lock".into(), text).unwrap();
    assert_eq!((file.get(&label("a")), messages(&file)), (Some(&line("1")), vec![]));
}

#[test]
fn it_is_written_only_when_it_changes_and_others_lines_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipeline.lock");
    let mut file = LockFile::read(&path).unwrap();
    assert!(!file.save().unwrap(), "an empty lock file is not made");
    assert!(!path.exists());
    file.update([(label("a"), line("1")), (label("b"), line("2")), (label("gone"), line("3"))]);
    assert!(file.save().unwrap());
    assert!(!file.save().unwrap());

    let mut again = LockFile::read(&path).unwrap();
    assert_eq!(messages(&again), []);
    again.update([(label("a"), line("1"))]);
    assert!(!again.save().unwrap(), "the same again");
    again.update([(label("a"), line("changed"))]);
    assert!(again.save().unwrap());
    assert_eq!(again.get(&label("b")), Some(&line("2")));
    again.keep_only(|label| label != "gone");
    assert!(again.save().unwrap());
    let last = LockFile::read(&path).unwrap();
    assert_eq!(last.cells().map(|(label, _)| label).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing temporary stays");
}

#[test]
fn in_a_merge_conflict_the_first_side_is_taken_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let whole = text_of(&[("a", "1"), ("b", "ours")]);
    let (head, ours) = whole.trim_end().rsplit_once('\n').unwrap();
    let cell = |name, content| text_of(&[(name, content)]).lines().last().unwrap().to_owned();
    let (base, theirs, added) = (cell("b", "base"), cell("b", "theirs"), cell("c", "new"));
    let text =
        format!("{head}\n<<<<<<< HEAD\n{ours}\n||||||| 1234\n{base}\n=======\n{theirs}\n{added}\n>>>>>>> branch\n");
    let file = read(folder.path(), &text).unwrap();
    assert_eq!(file.get(&label("a")), Some(&line("1")));
    assert_eq!(file.get(&label("b")), Some(&line("ours")));
    assert_eq!(file.get(&label("c")), Some(&line("new")), "what only the other side has is kept");
    let found = messages(&file);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, 5);
    assert!(found[0].1.contains("merge conflict") && found[0].1.contains("HEAD"), "{found:?}");
}

#[test]
fn a_line_that_cannot_be_read_has_a_warning_with_its_number() {
    let folder = tempfile::tempdir().unwrap();
    let text = text_of(&[("a", "1"), ("b", "2")]);
    let text = text.replace("\"b\": {", "\"b\": ");
    let file = read(folder.path(), &format!("{text}\"a\": {{\"key\": 12e4567}}\n")).unwrap();
    assert_eq!(file.cells().map(|(label, _)| label).collect::<Vec<_>>(), ["a"]);
    let found = messages(&file);
    assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [5, 6], "{found:?}");

    // Written, it would be without them.
    let mut file = file;
    file.update([(label("a"), line("changed"))]);
    let refused = file.save().unwrap_err().to_string();
    assert!(refused.starts_with("cannot read ") && refused.contains("pipeline.lock:5: "), "{refused}");
    assert!(refused.ends_with("; 1 more line like it"), "{refused}");
    assert!(fs::read_to_string(folder.path().join("pipeline.lock")).unwrap().contains("12e4567"), "as it was");
}

#[test]
fn a_newer_version_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let message = read(folder.path(), "cwm-lock: 2\nanything: else\n").unwrap_err().to_string();
    assert!(message.contains("format 2") && message.contains("up to 1"), "{message}");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "([<>=|]{7}( x)?|cwm-lock: ?[0-9]{0,2}|\"[a-z]\": \\{\\}|.{0,12}|\n){0,8}") {
        drop(LockFile::parse("x".into(), text));
    }

    #[test]
    fn what_is_written_reads_back(cells in prop::collection::btree_map("[a-zé\"\\\\ ]{1,8}", ".{0,3}", 0..5)) {
        let cells = cells.iter().map(|(name, content)| (name.clone(), line(content))).collect();
        let file = LockFile { entries: cells, ..LockFile::default() };
        let read = LockFile::parse("x".into(), file.text()).unwrap();
        prop_assert_eq!(&read.entries, &file.entries);
        prop_assert!(read.problems().is_empty(), "{:?}", read.problems());
    }
}
