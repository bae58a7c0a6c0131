//! Chooses the rows of a source that become items of each task.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Display;

use cwm_contract::Failure;
use cwm_game::StreamRng;
use cwm_random::Random;

use crate::Task;
use crate::item::Item;

/// The order in which rows are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The order of the file: the first task in the family's order that makes an item of a row takes it.
    File,
    /// A shuffled order, for each task by itself.
    Shuffled,
}

/// A task of a family, and how many items it is to have.
#[derive(Clone, Copy, Debug)]
pub struct TaskCount<T = Task> {
    /// The task.
    pub task: T,
    /// Its items.
    pub wanted: usize,
    /// The weight of the task where several tasks make items of a row: larger for tasks that few rows serve.
    /// [`Order::File`] ignores it.
    pub weight: u64,
}

/// Chooses the rows of a family of tasks. A row, and rows of the same id, serve one of them at most.
///
/// As they come, the first task that is not full takes a row. Shuffled, each task has a random key for each row, from the seed
/// and its own name; a row belongs to the task with the smallest key among those that make an item of it; and each task takes
/// the rows with its smallest keys. So the items of a task do not depend on which other tasks are wanted, and only they are
/// kept while rows are read.
pub struct Picker<T = Task> {
    order: Order,
    seed: String,
    rows: u64,
    slots: Vec<Slot<T>>,
    /// The ids of the chosen rows.
    ids: HashSet<String>,
}

struct Slot<T> {
    count: TaskCount<T>,
    keys: StreamRng,
    /// The key of the current row.
    key: u64,
    /// By key and row.
    chosen: BTreeMap<(u64, u64), (String, Item)>,
}

impl<T> Slot<T> {
    /// Returns true if a row with the current key would be chosen.
    fn accepts(&self) -> bool {
        let last = self.chosen.last_key_value().map(|((key, _), _)| *key);
        self.chosen.len() < self.count.wanted || last.is_some_and(|last| self.key < last)
    }

    fn draw_key(&mut self) -> u64 {
        (u64::from(self.keys.next()) << 32 | u64::from(self.keys.next())) / self.count.weight
    }

    /// Chooses a row. Returns the id of the one that it takes the place of.
    fn choose(&mut self, row: u64, id: &str, item: Item) -> Option<String> {
        self.chosen.insert((self.key, row), (id.to_owned(), item));
        if self.chosen.len() <= self.count.wanted { None } else { Some(self.chosen.pop_last()?.1.0) }
    }
}

impl<T: Copy + PartialEq + Display> Picker<T> {
    /// A picker for the tasks of a family, in their order.
    pub fn new(order: Order, seed: i128, tasks: &[TaskCount<T>]) -> Self {
        let seed = seed.to_string();
        let slot = |&count: &TaskCount<T>| Slot {
            keys: StreamRng::new(&format!("questions {} rows", count.task), &seed, 0),
            key: 0,
            chosen: BTreeMap::new(),
            count,
        };
        Picker { order, rows: 0, slots: tasks.iter().map(slot).collect(), ids: HashSet::new(), seed }
    }

    /// Returns true if no further row would be chosen.
    pub fn is_full(&self) -> bool {
        match self.order {
            Order::File => self.slots.iter().all(|slot| slot.chosen.len() >= slot.count.wanted),
            Order::Shuffled => self.slots.iter().all(|slot| slot.count.wanted == 0),
        }
    }

    /// Adds the next row as a candidate of `tasks`, in this order of preference: `make` gives the item of a task, if
    /// the row has one, with draws of its own.
    ///
    /// # Errors
    ///
    /// `make` fails.
    pub fn add_candidate(
        &mut self,
        id: &str,
        tasks: &[T],
        mut make: impl FnMut(T, &mut StreamRng) -> Result<Option<Item>, Failure>,
    ) -> Result<(), Failure> {
        let row = self.rows;
        self.rows += 1;
        for slot in &mut self.slots {
            slot.key = match self.order {
                Order::File => row,
                Order::Shuffled => slot.draw_key(),
            };
        }
        if !self.slots.iter().any(|slot| slot.accepts()) || self.ids.contains(id) {
            return Ok(());
        }
        let slot_of = |&task: &T| self.slots.iter().position(|slot| slot.count.task == task);
        let mut order: Vec<usize> = tasks.iter().filter_map(slot_of).collect();
        match self.order {
            Order::File => order.retain(|&at| self.slots[at].accepts()),
            Order::Shuffled => order.sort_by_key(|&at| self.slots[at].key),
        }
        for (tried, &at) in order.iter().enumerate() {
            if !order[tried..].iter().any(|&at| self.slots[at].accepts()) {
                break;
            }
            let slot = &mut self.slots[at];
            let mut draws = StreamRng::new(&format!("questions {} draws", slot.count.task), &self.seed, row);
            let Some(item) = make(slot.count.task, &mut draws)? else { continue };
            if slot.accepts() {
                self.ids.insert(id.to_owned());
                if let Some(id) = slot.choose(row, id, item) {
                    self.ids.remove(&id);
                }
            }
            break;
        }
        Ok(())
    }

    /// The ids of the chosen rows.
    pub fn ids(&self) -> &HashSet<String> {
        &self.ids
    }

    /// The chosen items in the order in which they were found, numbered within their tasks; of task after task if `by_task`.
    pub fn finish(self, by_task: bool) -> Vec<Item> {
        let mut found = Vec::new();
        for (at, slot) in self.slots.into_iter().enumerate() {
            for (number, (key, (_, mut item))) in slot.chosen.into_iter().enumerate() {
                item.task_id = format!("{}_{number:04}", slot.count.task);
                found.push((if by_task { at } else { 0 }, key, item));
            }
        }
        found.sort_by_key(|(at, key, _)| (*at, *key));
        found.into_iter().map(|(_, _, item)| item).collect()
    }
}
