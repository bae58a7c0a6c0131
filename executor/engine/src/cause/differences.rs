//! The differences between the key of a cell now and before.

use std::collections::{BTreeMap, BTreeSet};

use super::{Cause, CodeChange};
use cwm_action::source_key;
use cwm_core::{Components, Digest};

/// Returns the differences between two components, without the places of parameters and the producers of inputs.
pub fn differences(old: &Components, new: &Components) -> Vec<Cause> {
    let mut causes = Vec::new();
    if (old.key_format, old.contract) != (new.key_format, new.contract) {
        causes.push(Cause::KeyFormat);
    }
    if old.kind != new.kind {
        causes.push(Cause::Kind { old: old.kind.clone(), new: new.kind.clone() });
    }
    for name in old.parameters.keys().chain(new.parameters.keys()).collect::<BTreeSet<_>>() {
        let (before, now) = (old.parameters.get(name), new.parameters.get(name));
        if before != now {
            let (before, now) = (before.cloned(), now.cloned());
            // A stage that only brings in what is elsewhere has no code in its key.
            if name == source_key::SOURCE && new.code.is_empty() && new.kind != "command" {
                causes.push(Cause::Source { old: before, new: now, pinned: false, repinned: false });
                continue;
            }
            causes.push(Cause::Parameter { name: name.clone(), old: before, new: now, line: None, set: false });
        }
    }
    let (before, now) = (artifacts(old), artifacts(new));
    for place @ (name, label) in before.keys().chain(now.keys()).collect::<BTreeSet<_>>() {
        let (old, new) = (before.get(place).copied(), now.get(place).copied());
        if old != new {
            let (name, label, source) = (name.clone(), label.clone(), String::new());
            causes.push(Cause::Input { name, label, source, old, new, old_output: None });
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
        causes.push(Cause::Code { what: what.into_iter().cloned().collect(), changes });
    }
    causes
}

/// Returns the content of each input artifact, by the input's name and the artifact's label.
fn artifacts(components: &Components) -> BTreeMap<(String, String), Digest> {
    let inputs = components.inputs.iter();
    inputs
        .flat_map(|(name, group)| group.iter().map(move |(label, digest)| ((name.clone(), label.clone()), *digest)))
        .collect()
}

#[cfg(test)]
mod tests {
    use cwm_contract::Value;

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
        let mut causes = differences(old, new);
        for cause in &mut causes {
            match cause {
                Cause::Parameter { line, .. } => *line = Some(7),
                Cause::Input { source, .. } => "corpus".clone_into(source),
                _ => {}
            }
        }
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
}
