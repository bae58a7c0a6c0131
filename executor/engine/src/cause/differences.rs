//! What differs between what a cell depends on now and what it depended on before.

use std::collections::{BTreeMap, BTreeSet};

use cwm_contract::Value;

use super::{Cause, CodeChange};
use cwm_action::source_key;
use cwm_core::{Components, Digest};

/// Where the value of a parameter is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ValueOrigin {
    /// The line of the YAML.
    pub line: Option<usize>,
    /// True if it comes from `--set`, which has no line.
    pub set: bool,
}

/// Returns the differences between `old` and `new`. `line` says where a parameter is written, `source` what made an input.
pub fn differences(
    old: &Components,
    new: &Components,
    line: impl Fn(&str) -> ValueOrigin,
    source: impl Fn(&str, &str) -> String,
) -> Vec<Cause> {
    let mut causes = Vec::new();
    if (old.key_format, old.contract) != (new.key_format, new.contract) {
        causes.push(Cause::KeyFormat);
    }
    if old.kind != new.kind {
        causes.push(Cause::Kind { old: old.kind.clone(), new: new.kind.clone() });
    }
    let names = |a: &BTreeMap<String, Value>, b: &BTreeMap<String, Value>| {
        let mut names: Vec<_> = a.keys().chain(b.keys()).cloned().collect();
        names.sort();
        names.dedup();
        names
    };
    for name in names(&old.parameters, &new.parameters) {
        let (before, now) = (old.parameters.get(&name), new.parameters.get(&name));
        if before != now {
            let (before, now) = (before.cloned(), now.cloned());
            if name == source_key::SOURCE && new.has_no_code() {
                causes.push(Cause::Source { old: before, new: now, pinned: false, repinned: false });
                continue;
            }
            let ValueOrigin { line, set } = line(&name);
            causes.push(Cause::Parameter { name, old: before, new: now, line, set });
        }
    }
    let flat = |components: &Components| -> BTreeMap<Place, Digest> {
        let inputs = components.inputs.iter();
        inputs
            .flat_map(|(name, group)| group.iter().map(move |(label, digest)| ((name.clone(), label.clone()), *digest)))
            .collect()
    };
    let (before, now) = (flat(old), flat(new));
    let renamed = renamed(&before, &now);
    let mut places: Vec<_> = before.keys().chain(now.keys()).collect();
    places.sort();
    places.dedup();
    // What has another name now is told of there.
    let renamed_places: BTreeSet<&Place> = renamed.values().copied().collect();
    places.retain(|place| !renamed_places.contains(place));
    for place in places {
        let (a, b) = (before.get(place), now.get(place));
        if a != b {
            let (name, label) = place.clone();
            let source = source(&name, &label);
            causes.push(match renamed.get(place) {
                Some((old_name, old_label)) => {
                    let (old_name, old_label) = (old_name.clone(), old_label.clone());
                    Cause::InputRenamed { name, label, source, old_name, old_label }
                }
                None => Cause::Input { name, label, source, old: a.copied(), new: b.copied(), old_output: None },
            });
        }
    }
    if old.code != new.code {
        let changed = old.code.keys().chain(new.code.keys()).filter(|name| old.code.get(*name) != new.code.get(*name));
        let what: BTreeSet<&String> = changed.filter(|name| *name != "base").collect();
        let change = |what: &&String| CodeChange {
            what: (*what).clone(),
            old: old.code.get(*what).cloned(),
            new: new.code.get(*what).cloned(),
        };
        let changes = what.iter().map(change).collect();
        causes.push(Cause::Code { what: what.into_iter().cloned().collect(), changes, since: Vec::new() });
    }
    causes
}

/// Where a content is among the inputs: the input's name, and the label within a group.
type Place = (String, String);

/// The places that are new and hold what exactly one place held that is gone; with that one. Of several that held it, it is
/// the one with the same axes, or the same place in a list.
fn renamed<'a>(
    before: &'a BTreeMap<Place, Digest>,
    now: &'a BTreeMap<Place, Digest>,
) -> BTreeMap<&'a Place, &'a Place> {
    let gone = without(before, now);
    let new = without(now, before);
    let mut renamed = pairs(&new, &gone, |_| "");
    for (new, old) in pairs(&new, &gone, |(_, label)| &label[label.find('[').unwrap_or(0)..]) {
        renamed.entry(new).or_insert(old);
    }
    renamed
}

/// The places of `these` that are not among `others`.
fn without<'a>(these: &'a BTreeMap<Place, Digest>, others: &BTreeMap<Place, Digest>) -> Vec<(&'a Place, Digest)> {
    let only = these.iter().filter(|(place, _)| !others.contains_key(*place));
    only.map(|(place, digest)| (place, *digest)).collect()
}

/// New and old places where just one of each holds a content, among those that are `alike`.
fn pairs<'a>(
    new: &[(&'a Place, Digest)],
    old: &[(&'a Place, Digest)],
    alike: impl Fn(&'a Place) -> &'a str,
) -> BTreeMap<&'a Place, &'a Place> {
    let mut sides: BTreeMap<(Digest, &str), [Vec<&Place>; 2]> = BTreeMap::new();
    for (side, places) in [new, old].into_iter().enumerate() {
        for (place, digest) in places {
            sides.entry((*digest, alike(place))).or_default()[side].push(place);
        }
    }
    let one = |[new, old]: [Vec<&'a Place>; 2]| match (&new[..], &old[..]) {
        ([new], [old]) => Some((*new, *old)),
        _ => None,
    };
    sides.into_values().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwm_core::KEY_FORMAT;

    fn components(validation: i128, games: &[u8], code: &str) -> Components {
        Components {
            key_format: KEY_FORMAT,
            contract: 1,
            kind: "split".into(),
            code: BTreeMap::from([("base".into(), code.into()), ("crate cwm-split".into(), code.into())]),
            parameters: BTreeMap::from([("validation".into(), Value::Int(validation))]),
            inputs: BTreeMap::from([("games".into(), vec![(String::new(), Digest::of(games))])]),
        }
    }

    fn described(old: &Components, new: &Components) -> Vec<String> {
        let causes = differences(old, new, |_| ValueOrigin { line: Some(7), set: false }, |_, _| "corpus".into());
        causes.iter().map(Cause::to_string).collect()
    }

    #[test]
    fn each_difference_is_named_with_old_and_new() {
        let before = components(50, b"a", "x");
        assert_eq!(described(&before, &before), Vec::<String>::new());
        assert_eq!(
            described(&before, &components(100, b"a", "x")),
            ["parameter `validation` changed: 50 -> 100 (line 7)"]
        );
        assert_eq!(described(&before, &components(50, b"a", "y")), ["code changed: crate cwm-split"]);
        let input = described(&before, &components(50, b"b", "x"));
        assert_eq!(input.len(), 1);
        assert!(input[0].starts_with("input `games` changed: ") && input[0].ends_with(", from corpus"), "{input:?}");
    }

    fn with_games(games: &[(&str, &[u8])]) -> Components {
        let group = games.iter().map(|(label, bytes)| ((*label).to_owned(), Digest::of(bytes))).collect();
        Components { inputs: BTreeMap::from([("games".into(), group)]), ..components(50, b"a", "x") }
    }

    #[test]
    fn an_input_of_another_name_and_the_same_content_is_told_as_such() {
        let before = with_games(&[("s[k=1]", b"1"), ("s[k=2]", b"2")]);
        let after = with_games(&[("ss[k=1]", b"1"), ("ss[k=2]", b"2")]);
        let expected = ["1", "2"]
            .map(|k| format!("input `games` (ss[k={k}]) was `games` (s[k={k}]) before, with the same content"));
        assert_eq!(described(&before, &after), expected);
        let mut other = before.clone();
        other.inputs = BTreeMap::from([("plays".into(), before.inputs["games"].clone())]);
        let expected = ["1", "2"]
            .map(|k| format!("input `plays` (s[k={k}]) was `games` (s[k={k}]) before, with the same content"));
        assert_eq!(described(&before, &other), expected);
        // Of which of two it has the content cannot be told.
        let before = with_games(&[("s[k=1]", b"1"), ("s[k=2]", b"1")]);
        let after = with_games(&[("ss", b"1")]);
        let gone = ["1", "2"].map(|k| format!("input `games` (s[k={k}]) is gone"));
        let new = "input `games` (ss) is new, from corpus".to_owned();
        assert_eq!(described(&before, &after), [&gone[..], &[new]].concat());
        // Where all hold the same, the axes tell.
        let after = with_games(&[("ss[k=1]", b"1"), ("ss[k=2]", b"1")]);
        let expected = ["1", "2"]
            .map(|k| format!("input `games` (ss[k={k}]) was `games` (s[k={k}]) before, with the same content"));
        assert_eq!(described(&before, &after), expected);
        // What was there before under its own name is no other's.
        let before = with_games(&[("a", b"1")]);
        let after = with_games(&[("a", b"1"), ("b", b"1")]);
        assert_eq!(described(&before, &after), ["input `games` (b) is new, from corpus"]);
    }
}
