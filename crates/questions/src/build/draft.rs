//! Items before their questions.

use cwm_contract::Failure;

use crate::Task;
use crate::item::Item;
use crate::metadata::Metadata;
use crate::truth::{Keys, key};

/// An item of a task about `input`, without number, question and key.
pub fn blank(task: Task, input: String) -> Item {
    Item {
        task_id: task.name().to_owned(),
        task_type: task.name().to_owned(),
        task_category: task.category().name().to_owned(),
        input,
        question: String::new(),
        format_examples: Vec::new(),
        correct_answer: String::new(),
        answer_type: task.answer_type(),
        metadata: Metadata::default(),
    }
}

/// The item with its key; none where the key would be empty.
pub fn finish(mut item: Item, keys: Keys) -> Result<Option<Item>, Failure> {
    let Some(answer) = key(&item, keys)?.filter(|answer| !answer.is_empty()) else { return Ok(None) };
    item.correct_answer = answer;
    Ok(Some(item))
}
