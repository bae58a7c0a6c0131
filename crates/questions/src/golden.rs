//! Golden data of tests: published items, and files that an independent program made.

use std::io::Read;
use std::path::PathBuf;

use cwm_contract::testing::shared;
use serde::de::DeserializeOwned;

use crate::item::{Item, UnknownTasks, read_item_files, read_items};
use crate::{Task, write_line};

/// The text of a golden file, decompressed; none, with a note, if it is not there.
pub(crate) fn text(name: &str) -> Option<String> {
    let file = std::fs::File::open(shared(&format!("systems/questions-golden/{name}"))?).unwrap();
    let mut text = String::new();
    match name.ends_with(".zst") {
        true => zstd::Decoder::new(file).unwrap().read_to_string(&mut text),
        false => { file }.read_to_string(&mut text),
    }
    .unwrap();
    Some(text)
}

/// The lines of a golden file, each read as JSON.
pub(crate) fn lines<T: DeserializeOwned>(name: &str) -> Option<Vec<T>> {
    let text = text(name)?;
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

const PUBLISHED: [&str; 4] = ["structural", "motifs", "short_tactics", "position_judgement"];

/// The 3,100 published items.
pub(crate) fn published() -> Option<Vec<Item>> {
    let mut items = Vec::new();
    for category in PUBLISHED {
        let name = format!("published/{category}.jsonl.zst");
        items.extend(read_items(text(&name)?.as_bytes(), &name, UnknownTasks::Fail).unwrap());
    }
    assert_eq!(items.len(), 3_100);
    Some(items)
}

#[test]
fn published_items_are_read_and_written_byte_for_byte() {
    for category in PUBLISHED {
        let name = format!("published/{category}.jsonl.zst");
        let Some(text) = text(&name) else { return };
        let mut written = Vec::new();
        for item in read_items(text.as_bytes(), &name, UnknownTasks::Fail).unwrap() {
            let task = item.task().unwrap();
            assert_eq!(task.category().name(), item.task_category);
            assert_eq!(task.answer_type(), item.answer_type);
            write_line(&mut written, &item).unwrap();
        }
        assert!(written == text.as_bytes(), "{name} differs");
    }
}

#[test]
fn there_are_fifty_tasks_with_names_of_their_own() {
    assert_eq!(Task::published().count(), 50);
    for task in Task::all() {
        assert_eq!(Task::of_name(task.name()), Some(task));
    }
}

/// The line of an item.
fn item(id: &str, task: &str) -> String {
    format!(
        r#"{{"task_id":"{id}","task_type":"{task}","task_category":"Motifs","input":"","question":"","format_examples":[],"correct_answer":"","answer_type":"multi","metadata":{{}}}}"#
    )
}

#[test]
fn an_item_that_two_files_have_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, ids: &[&str]| {
        let path = folder.path().join(name);
        std::fs::write(&path, ids.iter().map(|id| item(id, "motifs_pin") + "\n").collect::<String>()).unwrap();
        (name.to_owned(), path)
    };
    let files = [write("x", &["a", "b"]), write("y", &["c"]), write("z", &["d", "b"])];
    let read = |files: &[(String, PathBuf)]| {
        let files = files.iter().map(|(name, path)| (name.clone(), path.as_path()));
        read_item_files(files, UnknownTasks::Fail)
    };
    let ids: Vec<String> = read(&files[..2]).unwrap().into_iter().map(|item| item.task_id).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert_eq!(read(&files).unwrap_err().message, "z: the item b is in x too");
}

#[test]
fn bad_lines_are_located() {
    let failure = |text: String| read_items(text.as_bytes(), "items", UnknownTasks::Fail).unwrap_err().message;
    let good = item("a", "motifs_pin");
    assert_eq!(failure(format!("{good}\n\n{good}\n")), "items, line 3: a second item a");
    assert_eq!(failure(item("a", "motifs_x")), r#"items, line 1: a: the task "motifs_x" is not known"#);
    assert!(read_items(item("a", "motifs_x").as_bytes(), "items", UnknownTasks::Keep).is_ok());
    assert!(read_items(format!("\u{feff}{good}").as_bytes(), "items", UnknownTasks::Fail).is_ok());
    let failure = failure(good.replace(r#""correct_answer":"","#, ""));
    assert!(failure.starts_with("items, line 1: a: not an item: missing field `correct_answer`, column "), "{failure}");
}
