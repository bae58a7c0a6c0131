//! Writes `examples`, `items` and `counts`.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};

use cwm_contract::{Context, Failure};
use cwm_questions::{Item, write_line};
use cwm_reasoning::Example;
use serde_json::{Value, json};

use crate::build_result::{Reason, TreeCounts};
use crate::config::Config;
use crate::drawing::Drawing;
use crate::positions::Positions;

/// The examples and items that were built, and the counts.
pub struct BuildSummary {
    engine: Option<String>,
    /// The examples, each with the index of its place.
    examples: Vec<(usize, Example)>,
    /// The items, each with the index of its place.
    items: Vec<(usize, Item)>,
    dropped: BTreeMap<Reason, u64>,
    tree: TreeCounts,
}

impl BuildSummary {
    /// Nothing yet. `engine` is the name of the engine that searches, if one does.
    pub fn new(engine: Option<String>) -> BuildSummary {
        BuildSummary {
            engine,
            examples: Vec::new(),
            items: Vec::new(),
            dropped: Reason::ALL.map(|reason| (reason, 0)).into(),
            tree: TreeCounts::default(),
        }
    }

    /// Adds an example.
    pub fn push(&mut self, place: usize, example: Example, tree: TreeCounts) {
        self.examples.push((place, example));
        self.tree.nodes += tree.nodes;
        self.tree.contradicted += tree.contradicted;
    }

    /// Adds an item.
    pub fn push_item(&mut self, place: usize, item: Item) {
        self.items.push((place, item));
    }

    /// Counts a position of which nothing was built, and returns how many there are so far for this reason.
    pub fn count_dropped(&mut self, reason: Reason) -> u64 {
        let count = self.dropped.entry(reason).or_default();
        *count += 1;
        *count
    }
}

/// Writes `examples` and `items` in the order of their positions, and `counts`.
///
/// # Errors
/// Nothing was built, or an operation on the disk fails.
pub fn write(
    context: &Context,
    config: &Config,
    positions: &Positions,
    drawing: &Drawing,
    mut found: BuildSummary,
) -> Result<(), Failure> {
    let mut dropped = positions.dropped();
    dropped.insert("fullmove", drawing.outside);
    dropped.extend(found.dropped.iter().map(|(reason, count)| (reason.name(), *count)));
    let count = found.examples.len() + found.items.len();
    if count == 0 {
        let reasons = dropped.iter().filter(|(_, count)| **count > 0);
        let reasons: Vec<String> = reasons.map(|(reason, count)| format!("{reason} {count}")).collect();
        let message = format!("no example of `{}` can be built of {} positions", config.builder, positions.read);
        return Err(Failure::input(format!("{message}; dropped: {}", reasons.join(", "))));
    }
    found.examples.sort_unstable_by_key(|(place, _)| *place);
    let mut out = BufWriter::new(fs_err::File::create(context.output("examples")?)?);
    for (number, (_, example)) in found.examples.into_iter().enumerate() {
        write_line(&mut out, &example.numbered(number))?;
    }
    out.flush()?;
    found.items.sort_unstable_by_key(|(place, _)| *place);
    let mut out = BufWriter::new(fs_err::File::create(context.output("items")?)?);
    for (number, (_, item)) in found.items.into_iter().enumerate() {
        let task_id = format!("{}_{number:04}", item.task_type);
        write_line(&mut out, &Item { task_id, ..item })?;
    }
    out.flush()?;
    if let Some(limit) = config.limit.filter(|limit| (count as u64) < *limit) {
        context.note(format!("{count} of {limit} examples: there are not enough positions"));
    }
    let mut counts: BTreeMap<&str, Value> = BTreeMap::from([
        ("stage", json!("examples")),
        ("builder", json!(config.builder)),
        ("examples", json!(count)),
        ("positions", json!(positions.read)),
        ("not_drawn", json!(drawing.left())),
        ("dropped", json!(dropped)),
    ]);
    counts.extend(found.engine.as_ref().map(|engine| ("engine", json!(engine))));
    if config.builder == "verbalised" {
        counts.extend([("nodes", json!(found.tree.nodes)), ("contradicted", json!(found.tree.contradicted))]);
    }
    fs_err::write(context.output("counts")?, format!("{}\n", json!(counts)))?;
    context.metric("examples", count as f64);
    Ok(())
}
