//! Counts of rows that were read and dropped, and of items that were found.

use std::collections::BTreeMap;

use cwm_contract::{Context, Failure};
use cwm_questions::Item;
use serde_json::{Value, json};

/// Faulty rows of an input that are named in the log.
const LOGGED: u64 = 20;

/// Rows of one input.
#[derive(Debug, Default)]
pub struct SourceCounts {
    read: u64,
    dropped: BTreeMap<&'static str, u64>,
    /// Rows that are not dropped, whose FEN has a castling right that cannot be.
    pub impossible_rights: u64,
}

impl SourceCounts {
    /// Returns counts with each reason at 0.
    pub fn new(reasons: impl IntoIterator<Item = &'static str>) -> Self {
        SourceCounts { dropped: reasons.into_iter().map(|reason| (reason, 0)).collect(), ..SourceCounts::default() }
    }

    /// Counts a row.
    pub fn count_read(&mut self) {
        self.read += 1;
    }

    /// Counts a row that is dropped.
    pub fn count_dropped(&mut self, reason: &'static str) {
        *self.dropped.entry(reason).or_default() += 1;
    }

    /// Counts a row that is dropped, and names the first such rows in the log.
    pub fn log_dropped(&mut self, reason: &'static str, place: &str, context: &Context) {
        self.count_dropped(reason);
        match self.dropped.values().sum::<u64>() {
            ..LOGGED => context.log(format!("{place} is dropped: {reason}")),
            LOGGED => context.log(format!("{place} is dropped: {reason}; further ones are only counted")),
            _ => {}
        }
    }

    /// Rows that were read.
    pub fn read(&self) -> u64 {
        self.read
    }

    /// Returns the reasons why rows were dropped, each with its number of rows.
    pub fn dropped(&self) -> impl Iterator<Item = String> {
        self.dropped.iter().filter(|(_, count)| **count > 0).map(|(reason, count)| format!("{reason} {count}"))
    }

    fn json(&self) -> Value {
        json!({ "read": self.read, "dropped": self.dropped, "impossible_rights": self.impossible_rights })
    }
}

/// The items of a task.
pub struct TaskItems {
    /// Its name.
    pub name: &'static str,
    /// Items that were built.
    pub found: usize,
    /// Items, at most.
    pub most: usize,
    /// True if it must get all of them.
    pub is_named: bool,
    /// The input that it is built from.
    pub source: &'static str,
}

/// Writes the counts: of sources, and of tasks, those with no item included.
pub fn write(
    context: &Context,
    sources: &BTreeMap<&'static str, SourceCounts>,
    tasks: &[TaskItems],
    items: &[Item],
) -> Result<(), Failure> {
    for (name, SourceCounts { impossible_rights, .. }) in sources {
        if *impossible_rights > 0 {
            context.note(format!(
                "{name}: {impossible_rights} FENs have a castling right that cannot be: keys are computed without it"
            ));
        }
    }
    let sources: BTreeMap<&str, Value> = sources.iter().map(|(name, counts)| (*name, counts.json())).collect();
    let tasks: BTreeMap<&str, usize> = tasks.iter().map(|task| (task.name, task.found)).collect();
    let counts = json!({ "stage": "questions", "items": items.len(), "sources": sources, "tasks": tasks });
    fs_err::write(context.output("counts")?, format!("{counts}\n"))?;
    Ok(())
}
