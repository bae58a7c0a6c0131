//! The items, and their tasks.

use std::collections::{BTreeMap, HashMap, HashSet};

use cwm_contract::{Context, Failure};
use cwm_questions::truth::{Keys, chess_of_fen, key};
use cwm_questions::{Item, Length, PublishedVerdict, UnknownTasks, read_item_files, verdict, write_line};
use sha2::{Digest, Sha256};

/// All items, in the order of the files.
pub struct Items {
    /// The items.
    pub all: Vec<Item>,
    /// Their tasks, in the order in which they come.
    pub tasks: Vec<Task>,
    places: HashMap<String, usize>,
}

/// A task, and its items.
#[derive(Debug, PartialEq)]
pub struct Task {
    /// Its name.
    pub name: String,
    /// Its category.
    pub category: String,
    /// The places of its items among all.
    pub places: Vec<usize>,
}

impl Items {
    /// Reads the input `items`.
    ///
    /// # Errors
    /// A line is no item, or its task is not known and such items are not kept; an item is there twice; there are none.
    pub fn read(context: &Context, unknown: UnknownTasks) -> Result<Self, Failure> {
        let files = context.group("items").iter().map(|input| (input.label.to_string(), input.path.as_path()));
        let all = read_item_files(files, unknown)?;
        if all.is_empty() {
            return Err(Failure::input("there are no items to grade"));
        }
        let places = all.iter().enumerate().map(|(place, item)| (item.task_id.clone(), place)).collect();
        let tasks = tasks(&all);
        Ok(Items { all, tasks, places })
    }

    /// The place of an item.
    pub fn place(&self, task_id: &str) -> Option<usize> {
        self.places.get(task_id).copied()
    }

    /// The items with a key that does not follow from input and metadata, neither as published nor as sound.
    pub fn with_other_keys(&self) -> Vec<&Item> {
        let has_other_key = |item: &&Item| match key(item, Keys::Published) {
            Ok(Some(published)) => {
                !is_key(item, &published)
                    && !key(item, Keys::Sound).ok().flatten().is_some_and(|sound| is_key(item, &sound))
            }
            _ => false,
        };
        self.all.iter().filter(|item| item.task().is_some()).filter(has_other_key).collect()
    }

    /// The items whose FEN has a castling right that cannot be, as six published ones have.
    pub fn with_impossible_rights(&self) -> Vec<&Item> {
        let has_impossible_right = |item: &&Item| {
            let fen = item.input.split(" | ").next().unwrap_or_default();
            chess_of_fen(fen).is_ok_and(|(_, has_impossible_right)| has_impossible_right)
        };
        self.all.iter().filter(|item| item.task().is_some()).filter(has_impossible_right).collect()
    }

    /// The categories, in the order in which they come.
    pub fn categories(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        self.tasks.iter().map(|task| task.category.as_str()).filter(|category| seen.insert(*category)).collect()
    }

    /// Returns the SHA-256 of the lines of each category's items.
    ///
    /// # Errors
    /// Never.
    pub fn digests(&self) -> Result<BTreeMap<String, String>, Failure> {
        let mut digests: BTreeMap<&str, Sha256> = BTreeMap::new();
        for item in &self.all {
            let mut line = Vec::new();
            write_line(&mut line, item)?;
            digests.entry(&item.task_category).or_default().update(&line);
        }
        let hex = |digest: Sha256| digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(digests.into_iter().map(|(category, digest)| (category.to_owned(), hex(digest))).collect())
    }
}

fn is_key(item: &Item, computed: &str) -> bool {
    let found = verdict(Some(computed), &item.correct_answer, item.answer_type, Length::default());
    found == PublishedVerdict::Correct
}

fn tasks(items: &[Item]) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (place, item) in items.iter().enumerate() {
        let at = *known.entry(&item.task_type).or_insert_with(|| {
            let (name, category) = (item.task_type.clone(), item.task_category.clone());
            tasks.push(Task { name, category, places: Vec::new() });
            tasks.len() - 1
        });
        tasks[at].places.push(place);
    }
    tasks
}
