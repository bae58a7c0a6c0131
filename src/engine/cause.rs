//! Why a cell runs: what differs between what it depends on now and what it depended on before.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use cwm_contract::Value;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::brought;
use crate::digest::Digest;
use crate::engine::history::{CodeSince, in_words};
use crate::key::Components;
use crate::keyed::VARIABLE;
use crate::store::{ActionRecord, Dropped, Missing, Store, StoreError};

/// One reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum Cause {
    /// No earlier result of this cell is known.
    NeverRan,
    /// An attempt at just this left its log and no result.
    Unfinished {
        /// When it last wrote into its log.
        #[serde(with = "crate::store::timestamp")]
        at: Timestamp,
    },
    /// Another process does just this now.
    Running {
        /// Which.
        holder: String,
    },
    /// The lock file names a result of this cell that the store has no record of.
    RecordMissing {
        /// Whether it would be the result of what the cell is now; if not, something changed, and the store cannot tell what.
        /// Nothing where that is not known yet.
        same: Option<bool>,
    },
    /// It was asked for with `--force`.
    Forced,
    /// There is a record, but its files are gone.
    ObjectsMissing {
        /// How many.
        count: usize,
    },
    /// There is a record, but files of it were changed since they were stored.
    ObjectsDamaged {
        /// How many.
        count: usize,
    },
    /// There is a record; its files were let go on purpose.
    LetGo {
        /// Why.
        reason: Dropped,
    },
    /// Others have its result, and its files were not pulled.
    NotPulled {
        /// The remote that told of it, where that is known.
        from: Option<String>,
        /// Who made it, and when.
        origin: String,
    },
    /// A parameter changed.
    Parameter {
        /// Its name.
        name: String,
        /// What it was; nothing if it was not there.
        old: Option<Value>,
        /// What it is; nothing if it is gone.
        new: Option<Value>,
        /// The line of the YAML where its value is written, if it is: in the stage, or as a variable or an axis.
        line: Option<usize>,
        /// Whether its value comes from `--set`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        set: bool,
    },
    /// What it brings in changed.
    Source {
        /// What it was; nothing if it was not there.
        old: Option<Value>,
        /// What it is; nothing if it is gone.
        new: Option<Value>,
        /// Whether a pin says what it is.
        pinned: bool,
        /// Whether the pin is what changed: the same URL, and other bytes.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        repinned: bool,
    },
    /// Of some of what it brings in no sum is known.
    NotPinned {
        /// Of how much.
        count: usize,
    },
    /// An input's content changed.
    Input {
        /// Name of the input.
        name: String,
        /// Label of the artifact within a group; empty for a single one.
        label: String,
        /// What made it: a stage, or a file from outside.
        source: String,
        /// Content before, if it was there.
        old: Option<Digest>,
        /// Content now, if it is there.
        new: Option<Digest>,
    },
    /// An input has another name or label than before, and the same content.
    InputRenamed {
        /// Name of the input.
        name: String,
        /// Label of the artifact within a group; empty for a single one.
        label: String,
        /// What made it: a stage, or a file from outside.
        source: String,
        /// Its name before.
        old_name: String,
        /// Its label before.
        old_label: String,
    },
    /// Code changed.
    Code {
        /// The crates or parts that changed.
        what: Vec<String>,
        /// The same with their digests, before and now.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changes: Vec<CodeChange>,
        /// Since when, as far as the store's records tell; only where people ask why.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        since: Vec<CodeSince>,
    },
    /// Another kind of stage stands under this name.
    Kind {
        /// Before.
        old: String,
        /// Now.
        new: String,
    },
    /// cwm computes keys in another way than when the result was made.
    KeyFormat,
}

impl Cause {
    /// What is to be said of a result that lacks these files.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn of_missing(store: &Store, record: &ActionRecord, missing: &[Missing]) -> Result<Cause, StoreError> {
        Ok(match (missing.iter().filter(|missing| missing.damage.is_some()).count(), record.dropped) {
            (0, Some(Dropped::NotPulled)) => {
                Cause::NotPulled { from: store.not_pulled_from(record)?, origin: record.origin() }
            }
            (0, Some(reason)) => Cause::LetGo { reason },
            (0, None) => Cause::ObjectsMissing { count: missing.len() },
            (count, _) => Cause::ObjectsDamaged { count },
        })
    }
}

/// A crate or part that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeChange {
    /// `crate …` or `part …`.
    pub what: String,
    /// Its digest before, if it was there.
    pub old: Option<String>,
    /// Its digest now, if it is there.
    pub new: Option<String>,
}

/// Where the value of a parameter is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The line of the YAML.
    pub line: Option<usize>,
    /// Whether it comes from `--set`, which has no line.
    pub set: bool,
}

/// What differs between `old` and `new`. `line` says where a parameter is written, `source` what made an input.
pub fn differences(
    old: &Components,
    new: &Components,
    line: impl Fn(&str) -> Line,
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
            if name == brought::SOURCE && new.only_brings() {
                causes.push(Cause::Source { old: before, new: now, pinned: false, repinned: false });
                continue;
            }
            let Line { line, set } = line(&name);
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
    let told: BTreeSet<&Place> = renamed.values().copied().collect();
    places.retain(|place| !told.contains(place));
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
                None => Cause::Input { name, label, source, old: a.copied(), new: b.copied() },
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

/// An input, with its label where it is one of a group.
fn which(name: &str, label: &str) -> String {
    if label.is_empty() { format!("`{name}`") } else { format!("`{name}` ({label})") }
}

fn short(digest: Option<Digest>) -> String {
    digest.map_or_else(|| "nothing".into(), |digest| digest.short())
}

impl Cause {
    /// What is brought in is what a pin says.
    pub fn as_pinned(&mut self) {
        if let Cause::Source { pinned, .. } = self {
            *pinned = true;
        }
    }

    /// What is brought in changed because its pin did.
    pub fn by_pin(&mut self) {
        if let Cause::Source { pinned, repinned, .. } = self {
            (*pinned, *repinned) = (true, true);
        }
    }

    /// As [`fmt::Display`] has it, without what made an input: for whoever tells that next.
    pub fn without_source(&self) -> String {
        let text = self.to_string();
        match self {
            Cause::Input { source, .. } => {
                text.strip_suffix(&format!(", from {source}")).map_or(text.clone(), str::to_owned)
            }
            _ => text,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::NeverRan => f.write_str("never ran"),
            Cause::Unfinished { at } => {
                write!(f, "it failed or was stopped at {} and was never recorded (`cwm log`)", in_words(*at))
            }
            Cause::Running { holder } => write!(f, "it runs now, and is not recorded yet: {holder}"),
            Cause::RecordMissing { same: None } => {
                f.write_str("the lock file names a result, of which the store has no record")
            }
            Cause::RecordMissing { same: Some(true) } => f.write_str("the lock file names its result, which the store does not have"),
            Cause::RecordMissing { same: Some(false) } => f.write_str(
                "the lock file names an earlier result, of which the store has no record: what changed since cannot be told",
            ),
            Cause::Forced => f.write_str("forced"),
            Cause::ObjectsMissing { count: 1 } => f.write_str("a file of its recorded result is missing"),
            Cause::ObjectsMissing { count } => write!(f, "{count} files of its recorded result are missing"),
            Cause::ObjectsDamaged { count: 1 } => {
                f.write_str("a file of its recorded result was changed since it was stored")
            }
            Cause::ObjectsDamaged { count } => {
                write!(f, "{count} files of its recorded result were changed since they were stored")
            }
            Cause::LetGo { reason: Dropped::Collected } => f.write_str("its files were let go by `cwm gc`"),
            Cause::LetGo { reason: Dropped::NotPulled } => f.write_str("its files were not pulled from a remote"),
            Cause::NotPulled { from: Some(remote), origin } => {
                write!(f, "its result is known from the remote `{remote}` ({origin}), and its files were not pulled")
            }
            Cause::NotPulled { from: None, origin } => {
                write!(f, "its result is known from a remote ({origin}), and its files were not pulled")
            }
            Cause::LetGo { reason: Dropped::NotKept } => f.write_str("its files were dropped, as `keep: false` says"),
            Cause::Parameter { name, old, new, line, set } => {
                let text = |value: &Option<Value>| value.as_ref().map_or_else(|| "(not given)".into(), readable);
                if let Some(variable) = name.strip_prefix(VARIABLE) {
                    let text = |value: &Option<Value>| match value {
                        Some(Value::Null) => "(not set)".into(),
                        other => text(other),
                    };
                    return write!(f, "variable `{variable}` of the environment changed: {} -> {}", text(old), text(new));
                }
                write!(f, "parameter `{name}` changed: {} -> {}", text(old), text(new))?;
                match line {
                    _ if *set => f.write_str(" (--set)"),
                    Some(line) => write!(f, " (line {line})"),
                    None => Ok(()),
                }
            }
            Cause::Source { old, new, pinned, repinned } => {
                let text = |value: &Option<Value>| value.as_ref().map_or_else(|| "(nothing)".into(), readable);
                if *repinned {
                    return write!(f, "its pin in sources.lock changed: {} -> {}", text(old), text(new));
                }
                let pinned = if *pinned { ", as pinned in sources.lock" } else { "" };
                write!(f, "its source changed: {} -> {}{pinned}", text(old), text(new))
            }
            Cause::NotPinned { count: 1 } => f.write_str("not fetched before: what comes is pinned in sources.lock"),
            Cause::NotPinned { count } => {
                write!(f, "{count} sources not fetched before: what comes is pinned in sources.lock")
            }
            Cause::Input { name, label, source, old, new } => {
                let which = which(name, label);
                match (old, new) {
                    (None, _) => write!(f, "input {which} is new, from {source}"),
                    (_, None) => write!(f, "input {which} is gone"),
                    _ => write!(f, "input {which} changed: {} -> {}, from {source}", short(*old), short(*new)),
                }
            }
            Cause::InputRenamed { name, label, old_name, old_label, .. } => {
                let (now, before) = (which(name, label), which(old_name, old_label));
                write!(f, "input {now} was {before} before, with the same content")
            }
            Cause::Code { what, .. } if what.is_empty() => f.write_str("its code changed"),
            Cause::Code { what, since, .. } if since.is_empty() => write!(f, "code changed: {}", what.join(", ")),
            Cause::Code { since, .. } => {
                let words: Vec<String> = since.iter().map(CodeSince::words).collect();
                write!(f, "code changed: {}", words.join("; "))
            }
            Cause::Kind { old, new } => write!(f, "it was a `{old}` stage and is a `{new}` stage now"),
            Cause::KeyFormat => f.write_str("this version of cwm computes keys in another way"),
        }
    }
}

/// A value as it stands in components, for people: files and secrets by digest, long text cut.
fn readable(value: &Value) -> String {
    if let Value::Map(map) = value
        && let Some((kind, Value::Text(digest))) = map.first_key_value()
    {
        let short = digest.get(..12).unwrap_or(digest);
        match kind.as_str() {
            "$file" => return format!("file {short}"),
            "$secret" => return format!("secret {short}"),
            _ => {}
        }
    }
    let text = brought::readable(value).unwrap_or_else(|| value.to_string());
    match text.char_indices().nth(80) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KEY_FORMAT;

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

    fn said(old: &Components, new: &Components) -> Vec<String> {
        let causes = differences(old, new, |_| Line { line: Some(7), set: false }, |_, _| "corpus".into());
        causes.iter().map(Cause::to_string).collect()
    }

    #[test]
    fn each_difference_is_named_with_old_and_new() {
        let before = components(50, b"a", "x");
        assert_eq!(said(&before, &before), Vec::<String>::new());
        assert_eq!(said(&before, &components(100, b"a", "x")), ["parameter `validation` changed: 50 -> 100 (line 7)"]);
        assert_eq!(said(&before, &components(50, b"a", "y")), ["code changed: crate cwm-split"]);
        let input = said(&before, &components(50, b"b", "x"));
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
        let told = ["1", "2"]
            .map(|k| format!("input `games` (ss[k={k}]) was `games` (s[k={k}]) before, with the same content"));
        assert_eq!(said(&before, &after), told);
        let mut other = before.clone();
        other.inputs = BTreeMap::from([("plays".into(), before.inputs["games"].clone())]);
        let told = ["1", "2"]
            .map(|k| format!("input `plays` (s[k={k}]) was `games` (s[k={k}]) before, with the same content"));
        assert_eq!(said(&before, &other), told);
        // Of which of two it has the content cannot be told.
        let before = with_games(&[("s[k=1]", b"1"), ("s[k=2]", b"1")]);
        let after = with_games(&[("ss", b"1")]);
        let gone = ["1", "2"].map(|k| format!("input `games` (s[k={k}]) is gone"));
        let new = "input `games` (ss) is new, from corpus".to_owned();
        assert_eq!(said(&before, &after), [&gone[..], &[new]].concat());
        // Where all hold the same, the axes tell.
        let after = with_games(&[("ss[k=1]", b"1"), ("ss[k=2]", b"1")]);
        let told = ["1", "2"]
            .map(|k| format!("input `games` (ss[k={k}]) was `games` (s[k={k}]) before, with the same content"));
        assert_eq!(said(&before, &after), told);
        // What was there before under its own name is no other's.
        let before = with_games(&[("a", b"1")]);
        let after = with_games(&[("a", b"1"), ("b", b"1")]);
        assert_eq!(said(&before, &after), ["input `games` (b) is new, from corpus"]);
    }
}
