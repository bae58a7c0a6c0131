//! Groups of cells that are shown alike: of thousands of cells of one stage, most have one state for one reason.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use cwm_contract::Label;
use regex::Regex;

use cwm_core::plural;

/// The most lines of one cell that are alike and shown one by one.
const MAX_ALIKE: usize = 3;

/// The output for one cell.
pub struct Entry<T> {
    /// The cell.
    pub label: Label,
    /// Its state and the reasons for it.
    pub lines: Vec<String>,
    /// A value of the caller.
    pub value: T,
}

/// Cells of one stage that are shown alike.
pub struct Group<T> {
    /// `model[seed=0]`, `model (20000 cells)`, `model[size=d32/l1] (5 cells)` or `model (3 of 20000 cells)`.
    pub name: String,
    /// Their lines, with `…` for digests and times that differ, and without the axes of labels that differ.
    pub lines: Vec<String>,
    /// The values of their entries.
    pub values: Vec<T>,
}

/// Groups entries whose lines differ by nothing but labels, digests and times, in the order of their first ones; each
/// by itself if it is `verbose`. The name of a group counts its cells among `all`, the cells of the pipeline; if that
/// is empty, it counts them alone.
pub fn fold<T>(entries: Vec<Entry<T>>, all: &[Label], verbose: bool) -> Vec<Group<T>> {
    let mut of_stage: HashMap<String, usize> = HashMap::new();
    entries.iter().for_each(|entry| *of_stage.entry(entry.label.stage.clone()).or_default() += 1);
    let mut numbers: HashMap<(String, Vec<String>), usize> = HashMap::new();
    let mut groups: Vec<(Vec<Label>, Vec<String>, Group<T>)> = Vec::new();
    for Entry { label, lines, value } in entries {
        let lines = if verbose { lines } else { fold_lines(lines) };
        // The expressions take 2 ms to compile, a third of a small run with nothing to do.
        let is_alone = verbose || of_stage[&label.stage] == 1;
        let general = |line: &String| if is_alone { line.clone() } else { without_details(line) };
        let general: Vec<String> = lines.iter().map(general).collect();
        let next = groups.len();
        let number =
            if verbose { next } else { *numbers.entry((label.stage.clone(), general.clone())).or_insert(next) };
        if number == next {
            groups.push((Vec::new(), general, Group { name: String::new(), lines: lines.clone(), values: Vec::new() }));
        }
        let (members, general, group) = &mut groups[number];
        for ((shown, general), line) in group.lines.iter_mut().zip(general).zip(&lines) {
            if shown != line {
                shown.clone_from(general);
            }
        }
        members.push(label);
        group.values.push(value);
    }
    let named = |(members, _, group): (Vec<Label>, _, Group<T>)| Group { name: name(&members, all), ..group };
    groups.into_iter().map(named).collect()
}

/// Replaces lines of one cell that are alike by one with their number: a cell may read thousands of others, and all of them
/// changed.
pub fn fold_lines(lines: Vec<String>) -> Vec<String> {
    if lines.len() <= MAX_ALIKE {
        return lines;
    }
    let general: Vec<String> = lines.iter().map(|line| without_details(line)).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    general.iter().for_each(|line| *counts.entry(line).or_default() += 1);
    let shown = |(line, general): (&String, &String)| match counts.get(&general[..]).copied().unwrap_or(0) {
        0 => None,
        count if count <= MAX_ALIKE => Some(line.clone()),
        count => counts.remove(&general[..]).map(|_| format!("{general} ({count} of them)")),
    };
    lines.iter().zip(&general).filter_map(shown).collect()
}

/// Names cells of one stage: by the axes that they have in common and others among `all` have not, and by their number.
fn name(members: &[Label], all: &[Label]) -> String {
    let Some(first) = members.first() else { return String::new() };
    let members: HashSet<&Label> = members.iter().collect();
    let count = members.len();
    if count == 1 {
        return first.to_string();
    }
    let stage: Vec<&Label> = all.iter().filter(|label| label.stage == first.stage).collect();
    if count >= stage.len() {
        return format!("{} ({count} cells)", first.stage);
    }
    let has = |label: &Label, one: &(String, String)| label.coordinates.contains(one);
    let is_common = |one: &(String, String)| members.iter().all(|label| has(label, one));
    let is_special = |one: &(String, String)| is_common(one) && !stage.iter().all(|label| has(label, one));
    let coordinates = first.coordinates.iter().filter(|one| is_special(one));
    let common = Label { stage: first.stage.clone(), coordinates: coordinates.cloned().collect() };
    let is_meant = |label: &&&Label| common.coordinates.iter().all(|one| has(label, one));
    match stage.iter().filter(is_meant).count() {
        meant if meant == count => format!("{common} ({count} cells)"),
        meant => format!("{common} ({count} of {})", plural(meant as u64, "cell", "cells")),
    }
}

/// The axes of a label behind its name. Without its axes, a label in a command needs no quotes.
static AXES: LazyLock<Regex> = LazyLock::new(|| {
    let label = r"([A-Za-z0-9_-]+)\[[^\]]*=[^\]]*\]";
    Regex::new(&format!("'{label}'|{label}")).expect("the expression is well-formed")
});

/// A digest or key as people see them, or a date with its time.
static DETAIL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?-u:\b)([0-9a-f]{12}|[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2})?)(?-u:\b)")
        .expect("the expression is well-formed")
});

/// Returns a line without the axes of labels, and with `…` for digests and times.
fn without_details(line: &str) -> String {
    DETAIL.replace_all(&AXES.replace_all(line, "$1$2"), "…").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(cells: &[(&str, &str)]) -> Vec<(String, String)> {
        let entry = |(label, line): &(&str, &str)| Entry {
            label: label.parse().unwrap(),
            lines: vec![(*line).to_owned()],
            value: (),
        };
        let all: Vec<Label> = cells.iter().map(|(label, _)| label.parse().unwrap()).collect();
        let groups = fold(cells.iter().map(entry).collect(), &all, false);
        groups.into_iter().map(|group| (group.name, group.lines.join("\n"))).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(name, line)| ((*name).to_owned(), (*line).to_owned())).collect()
    }

    #[test]
    fn a_group_is_named_by_what_its_cells_have_in_common() {
        let cells = [
            ("a", "never ran"),
            ("m[size=1,seed=0]", "never ran"),
            ("m[size=1,seed=1]", "never ran"),
            ("m[size=2,seed=0]", "forced"),
            ("m[size=2,seed=1]", "never ran"),
            ("n[k=0]", "never ran"),
            ("n[k=1]", "never ran"),
            ("o[size=1,seed=0]", "depends on a"),
            ("o[size=1,seed=1]", "depends on a"),
            ("o[size=2,seed=0]", "depends on b"),
        ];
        let expected = [
            ("a", "never ran"),
            ("m (3 of 4 cells)", "never ran"),
            ("m[size=2,seed=0]", "forced"),
            ("n (2 cells)", "never ran"),
            ("o[size=1] (2 cells)", "depends on a"),
            ("o[size=2,seed=0]", "depends on b"),
        ];
        assert_eq!(folded(&cells), pairs(&expected));
    }

    #[test]
    fn labels_digests_and_times_do_not_keep_cells_apart() {
        let line = |x: u32| {
            format!(
                "input `in` changed: {x}23456789abc -> 0a3456789ab{x}, from n[x={x}]; ada@host, 2026-11-2{x} 1{x}:00"
            )
        };
        let [one, two] = [line(1), line(2)];
        let expected = "input `in` changed: … -> …, from n; ada@host, …";
        assert_eq!(folded(&[("m[x=1]", &one), ("m[x=2]", &two)]), pairs(&[("m (2 cells)", expected)]));
        assert_eq!(folded(&[("m[x=1]", &one)]), pairs(&[("m[x=1]", &one)]), "a single cell keeps its details");
        assert_eq!(folded(&[("m[x=1]", &one), ("m[x=2]", &one)]), pairs(&[("m (2 cells)", &one)]), "and what is equal");
        let many: Vec<String> = (0..4).map(line).collect();
        assert_eq!(fold_lines(many[..3].to_vec()), many[..3], "a few lines of one cell are shown one by one");
        assert_eq!(
            fold_lines([vec!["forced".to_owned()], many].concat()),
            ["forced", &format!("{expected} (4 of them)")]
        );
        assert_eq!(without_details("`cwm pull 'm[x=1]'`, 'm[x=1].out'"), "`cwm pull m`, 'm.out'");
        // Lists and values are no labels.
        let unchanged = "parameter `p` changed: [a=1] -> [2], x[3]";
        assert_eq!(without_details(unchanged), unchanged);
    }
}
