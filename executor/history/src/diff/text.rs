//! Differences as text for people.

use std::collections::BTreeSet;

use super::locks::{ChangedCell, LockDifference};
use super::table_file::TableCell;
use super::tables::{ReportDifference, ReportSide, TableCellDifference, TableDifference};
use cwm_core::{join_some, plural, six_digits};
use cwm_engine::Cause;

/// Rows, columns or labels that are named; of more, how many there are.
const MAX_NAMES: usize = 8;

/// Inputs of one cell that are named; of more, how many there are.
const MAX_INPUTS: usize = 3;

impl LockDifference {
    /// Returns the text: a line for each group of cells with the same reasons, those that changed by themselves first;
    /// then the counts.
    pub fn text(&self) -> String {
        let (roots, followers): (Vec<&ChangedCell>, Vec<&ChangedCell>) =
            self.changed.iter().partition(|cell| cell.changed_directly);
        let mut text = section("changed directly", roots.iter().map(|cell| (&cell.label, why_changed(cell))));
        let by_others = self.changed_by_others();
        let count = by_others.len();
        let (by_others, followers): (Vec<&ChangedCell>, Vec<&ChangedCell>) =
            followers.into_iter().partition(|cell| by_others.contains(cell.label.as_str()));
        for (heading, cells) in [
            ("changed through their inputs", followers),
            ("changed because they read added or removed cells", by_others),
        ] {
            text += &section(heading, cells.iter().map(|cell| (&cell.label, because_of(cell))));
        }
        for (heading, labels) in
            [("added, only in the second", &self.added), ("removed, only in the first", &self.removed)]
        {
            text += &section(heading, labels.iter().map(|label| (label, String::new())));
        }
        let (changed, added, removed) = (self.changed.len(), self.added.len(), self.removed.len());
        text += &format!("cells: {changed} changed, {added} added, {removed} removed, {} the same\n", self.same);
        if !self.is_empty() && changed == count {
            let but = if changed > 0 { ", but for those that read added or removed ones" } else { "" };
            text += &format!("the cells that both have are the same{but}\n");
        }
        text
    }
}

fn stage_of(label: &str) -> &str {
    label.split('[').next().unwrap_or_default()
}

/// A line for each group of cells of one stage with the same reason, in the order of the first of them; nothing for no cells.
/// A line names the first cell and the number of the others, and ends with the reason.
fn section<'c>(heading: &str, cells: impl Iterator<Item = (&'c String, String)>) -> String {
    let mut groups: Vec<(&str, String, usize)> = Vec::new();
    for (label, why) in cells {
        let stage = stage_of(label);
        match groups.iter_mut().find(|(first, known, _)| *known == why && stage_of(first) == stage) {
            Some((_, _, others)) => *others += 1,
            None => groups.push((label, why, 0)),
        }
    }
    let lines = groups.iter().map(|(first, why, others)| match others {
        0 => format!("  {first}{why}\n"),
        _ => format!("  {first} and {others} more of {}{why}\n", stage_of(first)),
    });
    if groups.is_empty() { String::new() } else { format!("{heading}:\n{}", lines.collect::<String>()) }
}

/// Returns the reasons why a cell changed by itself, one a line.
fn why_changed(cell: &ChangedCell) -> String {
    let (inputs, others): (Vec<&Cause>, Vec<&Cause>) =
        cell.causes.iter().partition(|cause| matches!(cause, Cause::Input { .. }));
    let mut lines: Vec<String> = others.iter().map(ToString::to_string).collect();
    match inputs.len() {
        0..=MAX_INPUTS => lines.extend(inputs.iter().map(ToString::to_string)),
        count => lines.push(format!("{count} inputs changed, from {}", sources(cell))),
    }
    if cell.old == cell.new {
        lines.push("the outputs differ although inputs, parameters and code are the same".to_owned());
    }
    for key in &cell.unknown {
        lines.push(format!("the reason is unknown: the store has no record of {}", key.short()));
    }
    lines.extend(cell.same_outputs.then(|| SAME_RESULT.to_owned()));
    lines.iter().map(|line| format!("\n    {line}")).collect()
}

/// The note on a cell whose key changed and whose outputs did not.
const SAME_RESULT: &str = "the result is the same";

/// Returns the names of the stages whose outputs are the changed inputs of a cell.
fn sources(cell: &ChangedCell) -> String {
    let stages = cell.causes.iter().filter_map(|cause| match cause {
        Cause::Input { source, .. } => Some(stage_of(source)),
        _ => None,
    });
    Vec::from_iter(BTreeSet::from_iter(stages)).join(", ")
}

/// Returns the reason of a cell that changed because of its inputs: the stages that they come from.
fn because_of(cell: &ChangedCell) -> String {
    let same = if cell.same_outputs { format!(" ({SAME_RESULT})") } else { String::new() };
    format!(": {}{same}", sources(cell))
}

impl ReportDifference {
    /// Returns the text: each table with a line for each cell that differs; then the counts.
    pub fn text(&self) -> String {
        let text: String = self.tables.iter().map(TableDifference::text).collect();
        let cells: usize = self.tables.iter().map(|table| table.cells.len()).sum();
        let compared = plural(self.compared as u64, "table", "tables");
        let all = plural(self.cells as u64, "cell", "cells");
        text + &match (self.is_empty(), self.cells) {
            (true, _) => format!("the same in all {all} of {compared}\n"),
            (false, 0) => format!("no cell in common in {compared}\n"),
            // Rows and columns of only one report are listed above.
            (false, _) if cells == 0 => format!("the same in all {all} that both have, in {compared}\n"),
            (false, _) => format!("{cells} of {all} in {compared} differ\n"),
        }
    }
}

impl TableDifference {
    fn text(&self) -> String {
        let mut text = match self.only {
            Some(ReportSide::Old) => return format!("{} ({}): only in the first\n", self.id, self.title),
            Some(ReportSide::New) => return format!("{} ({}): only in the second\n", self.id, self.title),
            // Here no row or no column is in both, such as prefixes of another length: a list of all names does not help.
            None if self.compared == 0 => return format!("{} ({}): no cell in common\n", self.id, self.title),
            // Rows and columns of only one report are listed below.
            None if self.cells.is_empty() => format!("{} ({}):\n", self.id, self.title),
            None => format!("{} ({}): {} of {} cells differ\n", self.id, self.title, self.cells.len(), self.compared),
        };
        for (what, names) in self.names().into_iter().filter(|(_, names)| !names.is_empty()) {
            text += &format!("  {what}: {}\n", join_some(names, "; ", MAX_NAMES));
        }
        text.extend(self.cells.iter().map(|cell| format!("  {cell}\n")));
        text
    }
}

impl std::fmt::Display for TableCellDifference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let whole = self.what.iter().any(|what| ["deviation", "low", "high"].contains(what));
        write!(f, "{} | {}: {} -> {}", self.row, self.column, self.old.printed(whole), self.new.printed(whole))?;
        match self.difference {
            Some(difference) if difference != 0.0 && difference.is_finite() => {
                let sign = if difference > 0.0 { "+" } else { "" };
                write!(f, " ({sign}{})", short(difference))
            }
            _ => Ok(()),
        }
    }
}

/// A number as tables print it. Digits beyond the sixth have no meaning in a difference, and float arithmetic fills them with
/// noise.
fn short(number: f64) -> String {
    six_digits(number).replace('-', "−")
}

impl TableCell {
    /// Returns the printed text, `with_spread` followed by deviation and interval.
    fn printed(&self, with_spread: bool) -> String {
        let mut text = self.text.clone();
        if let (Some(deviation), true) = (self.deviation, with_spread) {
            text += &format!(" ± {}", short(deviation));
        }
        if let (Some(low), Some(high), true) = (self.low, self.high, with_spread) {
            text += &format!(" [{}, {}]", short(low), short(high));
        }
        text
    }
}
