//! The wording of the tasks.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use cwm_contract::Failure;

use super::own;
use super::slots::slots;
use crate::Task;
use crate::item::Item;
use crate::truth::Keys;

/// The question of a task, with marks where items differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    /// The question with the marks of [`slots`] and both placeholders.
    pub question: String,
    /// Examples of the answer's form: two, or one more to take the place of one that would give away the key.
    pub examples: Vec<String>,
}

/// A question for each task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wording(BTreeMap<Task, Template>);

impl Wording {
    /// Our own wording, to which these keys are the answers.
    pub fn own(keys: Keys) -> Self {
        Wording(Task::all().map(|task| (task, own::template(task, keys))).collect())
    }

    /// The wording of the first item of each task, such as of the published ones.
    ///
    /// # Errors
    ///
    /// An item's question does not contain what it must, such as the item's input.
    pub fn of_items<'i>(items: impl IntoIterator<Item = &'i Item>) -> Result<Self, Failure> {
        let mut templates = BTreeMap::new();
        for item in items {
            let Some(task) = item.task() else { continue };
            if let Entry::Vacant(place) = templates.entry(task) {
                let wrong = |what: String| Failure::input(format!("wording, item {}: {what}", item.task_id));
                place.insert(template_of(item, task).map_err(wrong)?);
            }
        }
        Ok(Wording(templates))
    }

    /// Returns true if it has a question for the task.
    pub fn has(&self, task: Task) -> bool {
        self.0.contains_key(&task)
    }

    /// Sets the question and the examples of an item that has all else.
    ///
    /// # Errors
    ///
    /// There is no question for its task, or the item lacks what belongs into it.
    pub fn set_question(&self, item: &mut Item) -> Result<(), Failure> {
        let wrong = |what: String| Failure::input(format!("item {}: {what}", item.task_id));
        let task = item.task().ok_or_else(|| wrong(format!("the task {:?} is not known", item.task_type)))?;
        let template = self.0.get(&task).ok_or_else(|| {
            wrong(format!("the wording has no item of the task {task}"))
                .hint("give the wording of all tasks, or leave this one out with `tasks`")
        })?;
        let mut question = template.question.clone();
        for (mark, text) in slots(item, task).map_err(wrong)? {
            question = question.replace(mark, &text);
        }
        item.question = question;
        let two = |examples: Vec<&String>| examples.into_iter().take(2).cloned().collect::<Vec<_>>();
        let silent = template.examples.iter().filter(|example| !example.contains(&item.correct_answer)).collect();
        let spare = template.examples.len() > 2;
        item.format_examples = two(if spare { silent } else { template.examples.iter().collect() });
        Ok(())
    }
}

fn template_of(item: &Item, task: Task) -> Result<Template, String> {
    let mut question = item.question.clone();
    for (mark, text) in slots(item, task)? {
        if text.is_empty() || !question.contains(&text) {
            return Err(format!("its question does not contain {text:?}"));
        }
        question = question.replace(&text, mark);
    }
    if item.format_examples.len() != 2 {
        return Err(format!("it has {} examples of the answer's form, and needs two", item.format_examples.len()));
    }
    Ok(Template { question, examples: item.format_examples.clone() })
}
