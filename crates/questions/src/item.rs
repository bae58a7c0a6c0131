//! An item: a position, a question about it, and its true answer; files of items, one JSON object a line.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use cwm_contract::Failure;
use serde::{Deserialize, Serialize};
use shakmaty::Chess;

use crate::form::AnswerType;
use crate::json_lines::read_lines;
use crate::metadata::Metadata;
use crate::task::Task;
use crate::truth::chess_of_fen;

/// An item as it stands in a file; keys in this order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// The name of the task, `_`, four digits.
    pub task_id: String,
    /// The name of the task ([`Task::of_name`]).
    pub task_type: String,
    /// The name of the category.
    pub task_category: String,
    /// A FEN; of state tracking `FEN | move move …`; of Position Judgement a FEN of four fields.
    pub input: String,
    /// The question, with placeholders for the context and the example of the answer's form.
    pub question: String,
    /// The examples of the answer's form.
    pub format_examples: Vec<String>,
    /// The key.
    pub correct_answer: String,
    /// The type of the answer, by which it is judged.
    pub answer_type: AnswerType,
    /// Further properties, by name.
    pub metadata: Metadata,
}

impl Item {
    /// The item's task, if it is known.
    pub fn task(&self) -> Option<Task> {
        Task::of_name(&self.task_type)
    }
}

/// The treatment of items of unknown tasks. A graded item is always kept: the crate with its rules has its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownTasks {
    /// Fail.
    Fail,
    /// Keep it: its key and its answer type are enough for a verdict.
    Keep,
}

/// Reads the items of `file` (its name in messages). Blank lines are skipped.
///
/// # Errors
///
/// The line and what is wrong there: no item, a second item of the same `task_id`, a task that is not known.
pub fn read_items(reader: impl BufRead, file: &str, unknown: UnknownTasks) -> Result<Vec<Item>, Failure> {
    let mut seen = HashSet::new();
    read_lines(reader, file, |line| {
        let item = read_item(line, unknown)?;
        if seen.insert(item.task_id.clone()) { Ok(item) } else { Err(format!("a second item {}", item.task_id)) }
    })
}

/// Reads the items of several `files`, each its name in messages and its path, in their order.
///
/// # Errors
///
/// Those of [`read_items`]; a file cannot be opened; an item of one file is in another too.
pub fn read_item_files<'a>(
    files: impl Iterator<Item = (String, &'a Path)>,
    unknown: UnknownTasks,
) -> Result<Vec<Item>, Failure> {
    let files: Vec<_> = files.collect();
    let mut all = Vec::new();
    let mut first_files: HashMap<String, String> = HashMap::new();
    for (name, path) in &files {
        let file = File::open(path).map_err(|error| Failure::io("open", path, error))?;
        for item in read_items(BufReader::new(file), name, unknown)? {
            // Within one file none is there twice.
            if files.len() > 1
                && let Some(first) = first_files.insert(item.task_id.clone(), name.clone())
            {
                return Err(Failure::input(format!("{name}: the item {} is in {first} too", item.task_id)));
            }
            all.push(item);
        }
    }
    Ok(all)
}

/// The positions of the items of several files, without the moves that may follow them. Positions that differ in their
/// clocks alone are equal.
///
/// # Errors
///
/// Those of [`read_items`]; a file cannot be opened; the input of an item is no position.
pub fn boards_of_files<'a>(paths: impl Iterator<Item = &'a Path>) -> Result<HashSet<Chess>, Failure> {
    let mut boards = HashSet::new();
    for path in paths {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| Failure::io("open", path, error))?;
        for item in read_items(BufReader::new(file), &name, UnknownTasks::Keep)? {
            let fen = item.input.split(" | ").next().unwrap_or_default();
            let wrong = |what: String| Failure::input(format!("{name}: {}: {what}", item.task_id));
            boards.insert(chess_of_fen(fen).map_err(wrong)?.0);
        }
    }
    Ok(boards)
}

fn read_item(line: &str, unknown: UnknownTasks) -> Result<Item, String> {
    let item: Item = serde_json::from_str(line).map_err(|error| {
        // Of an item that has a name, the name is what people look for.
        let named = serde_json::from_str::<serde_json::Value>(line).ok();
        let name = named.as_ref().and_then(|item| item.get("task_id")?.as_str()).map(|name| format!("{name}: "));
        // The line is that of the file.
        let error = error.to_string().replace(" at line 1 column ", ", column ");
        format!("{}not an item: {error}", name.unwrap_or_default())
    })?;
    let is_known = item.task().is_some() || item.answer_type == AnswerType::Graded;
    if !is_known && unknown == UnknownTasks::Fail {
        return Err(format!("{}: the task {:?} is not known", item.task_id, item.task_type));
    }
    Ok(item)
}
