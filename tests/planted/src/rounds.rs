//! Several changes are built at once if different probes detect them.

use std::collections::BTreeSet;

use crate::Probes;
use crate::changes::Change;

/// The verdict on a harmless change for which no probe differs.
pub const SAME: &str = "no probe differs, as it should be";

/// The changes in groups: no probe of `names` may differ for two of a group. The harmless ones have their own group.
pub fn of(changes: &[Change], names: &Probes) -> Vec<Vec<Change>> {
    let mut rounds: Vec<Vec<Change>> = Vec::new();
    for change in changes {
        let fits = |round: &&mut Vec<Change>| round.iter().all(|other| are_apart(change, other, names));
        match rounds.iter_mut().find(fits) {
            Some(round) => round.push(change.clone()),
            None => rounds.push(vec![change.clone()]),
        }
    }
    rounds
}

fn are_apart(a: &Change, b: &Change, names: &Probes) -> bool {
    a.is_harmless() == b.is_harmless() && !names.keys().any(|name| a.may_show_in(name) && b.may_show_in(name))
}

/// Returns the verdict on each change, by name: an error if a probe does not differ, or differs without cause.
pub fn judge(round: &[Change], before: &Probes, after: &Probes) -> Vec<(String, Result<String, String>)> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differing: BTreeSet<&String> = names.into_iter().filter(|name| before.get(*name) != after.get(*name)).collect();
    let is_stray = |name: &&str| !round.iter().any(|change| change.may_show_in(name));
    let stray: Vec<&str> = differing.iter().map(|name| name.as_str()).filter(is_stray).collect();
    let of_change = |change: &Change| {
        let is_silent = |pattern: &&str| !differing.iter().any(|name| matches(name, pattern));
        let silent: Vec<&str> = change.tells.iter().map(String::as_str).filter(is_silent).collect();
        let count = differing.iter().filter(|name| change.may_show_in(name)).count();
        let verdict = match (silent.is_empty(), stray.is_empty(), change.is_harmless()) {
            (false, ..) => Err(format!("does not show in {}", silent.join(", "))),
            (true, false, _) => Err(format!("of this round, this shows too: {}", stray.join(", "))),
            (true, true, true) => Ok(SAME.to_owned()),
            (true, true, false) => Ok(format!("caught: {count} names differ")),
        };
        (change.name.clone(), verdict)
    };
    round.iter().map(of_change).collect()
}

/// Returns true if a probe's name matches a pattern, in which `*` stands for any text, also at its end.
pub fn matches(name: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(name) = name.strip_prefix(first) else { return false };
    (0..=name.len()).filter(|at| name.is_char_boundary(*at)).any(|at| matches(&name[at..], rest))
}
