//! `accepted.lock`: changes of code that were accepted as changing no result, beside the pipelines, for git.
//!
//! It depends on kinds of stages and digests of code, not on plans or the store. What a change of code does is a matter of
//! the code, so all pipelines of a folder share one file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::line_file::{LineEntry, LineFile, LineProblem, ProblemKind, json_member};
use cwm_core::{CanonicalBytes, Components, Error, Key};

/// The name of the file.
pub const FILE_NAME: &str = "accepted.lock";

/// The entry of a code that all else of it is hashed into, but for the parts.
const BASE: &str = "base";

/// The code of a stage, as it enters a key: digests by `base`, `crate …` and `part …`.
pub type Code = BTreeMap<String, String>;

/// A change of the code of one kind of stage: results of the older code are used for the newer.
///
/// It names what changed and, as what all the rest is known by, `base`. So it holds for no other state of the code
/// than these two, but holds for all parameters that select other parts, which it does not name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedChange {
    /// Kind of stage.
    pub kind: String,
    /// Digest before and after, by `base`, `crate …` or `part …`; none where there was no such entry.
    pub code: BTreeMap<String, (Option<String>, Option<String>)>,
    /// The person who accepted it.
    pub by: String,
    /// The time, in UTC.
    pub at: String,
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// True if the probes of all results at hand were the same.
    #[serde(default)]
    pub probed: bool,
}

impl AcceptedChange {
    /// The change from `old` to `new` of a stage of this kind; none if the two are the same.
    pub fn between(kind: &str, old: &Code, new: &Code) -> Option<AcceptedChange> {
        if old == new {
            return None;
        }
        let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        let entry = |name: &String| (name.clone(), (old.get(name).cloned(), new.get(name).cloned()));
        let code = names.into_iter().map(entry).filter(|(name, (old, new))| old != new || name == BASE).collect();
        Some(AcceptedChange { kind: kind.to_owned(), code, ..AcceptedChange::default() })
    }

    /// Its name in the file: the same for the same change, by whomever it is accepted.
    pub fn name(&self) -> String {
        let mut bytes = CanonicalBytes::default();
        bytes.text(&self.kind);
        for (what, (old, new)) in &self.code {
            bytes.text(what);
            bytes.text(old.as_deref().unwrap_or_default());
            bytes.text(new.as_deref().unwrap_or_default());
        }
        format!("{} {}", self.kind, bytes.digest().short())
    }

    /// The crates and parts that changed.
    pub fn changed(&self) -> Vec<&str> {
        let changed = self.code.iter().filter(|(name, (old, new))| old != new && *name != BASE);
        changed.map(|(name, _)| name.as_str()).collect()
    }

    /// The older code, if `code` is of the newer.
    pub fn before(&self, code: &Code) -> Option<Code> {
        if self.code.iter().any(|(name, (_, new))| code.get(name) != new.as_ref()) {
            return None;
        }
        let mut older = code.clone();
        for (name, (old, _)) in &self.code {
            match old {
                Some(old) => older.insert(name.clone(), old.clone()),
                None => older.remove(name),
            };
        }
        Some(older)
    }
}

impl LineEntry for AcceptedChange {
    type Key = String;
    const FORMAT: &'static str = "cwm-accepted";
    const ENTRY: &'static str = "an accepted change of code";
    const INTRODUCTION: &'static str = "\
# Changes of code that change no result, as given to `cwm accept`; kept in git. In a merge conflict keep both sides.
";
    const CONFLICT_RULE: &'static str = "both sides are taken";

    fn parse(line: &str) -> Result<(String, AcceptedChange), String> {
        let (name, change): (String, AcceptedChange) = json_member(line)?;
        // A line that was edited would accept another change than its name identifies.
        if change.name() == name { Ok((name, change)) } else { Err("its name is not that of its content".to_owned()) }
    }

    fn write(&self, name: &String, text: &mut String) {
        let json = serde_json::to_string(self).unwrap_or_default();
        *text += &format!("{}: {json}\n", serde_json::Value::from(name.as_str()));
    }
}

/// The changes that were accepted in a folder of pipelines, by name.
///
/// # Format, version 1
/// YAML, one line a change of code, sorted by name, so that git merges it line by line. The name is the kind of stage and
/// the beginning of a digest of the change itself. Everything is quoted: a bare digest such as `12e4567` would be a number.
///
/// ```yaml
/// cwm-accepted: 1
/// "split 9f31c06a44d2": {"kind": "split", "code": {"base": ["1a…", "7b…"], "crate cwm-split": ["c0…", "3d…"]}, "by": …}
/// ```
#[derive(Clone, Debug, Default)]
pub struct AcceptedChanges(LineFile<AcceptedChange>);

impl AcceptedChanges {
    /// Reads the changes that were accepted beside the pipeline in `yaml`; none if there is no file. Of a merge conflict both
    /// sides are taken.
    ///
    /// # Errors
    /// The file cannot be read, or a newer cwm wrote it.
    pub fn for_pipeline(yaml: &Path) -> Result<AcceptedChanges, Error> {
        Ok(AcceptedChanges(LineFile::for_pipeline(yaml, FILE_NAME)?))
    }

    /// Returns the problems of the file. Two who accept one change differ in their names only, which is none.
    pub fn problems(&self) -> impl Iterator<Item = &LineProblem> {
        self.0.problems().iter().filter(|problem| problem.kind != ProblemKind::Contradiction)
    }

    /// All changes, by name.
    pub fn changes(&self) -> impl Iterator<Item = &AcceptedChange> {
        self.0.entries.values()
    }

    /// Adds a change in memory.
    pub fn add(&mut self, change: AcceptedChange) {
        self.0.entries.entry(change.name()).or_insert(change);
    }

    /// The older codes whose results are used for `code`, the nearest first, each once and never `code` itself.
    pub fn older(&self, kind: &str, code: &Code) -> Vec<Code> {
        let mut found = vec![code.clone()];
        let mut next = 0;
        while next < found.len() {
            let now = found[next].clone();
            for change in self.0.entries.values().filter(|change| change.kind == kind) {
                found.extend(change.before(&now).filter(|older| !found.contains(older)));
            }
            next += 1;
        }
        found.remove(0);
        found
    }

    /// The keys that results are looked up by in place of that of `components`, the nearest code first.
    pub fn equivalent_keys(&self, components: &Components) -> impl Iterator<Item = Key> {
        // A key without code depends on none.
        let has_code = !components.code.is_empty();
        let older = if has_code { self.older(&components.kind, &components.code) } else { Vec::new() };
        older.into_iter().map(|code| Components { code, ..components.clone() }.key())
    }

    /// The names of the changes by which older results are used for `code`, directly or not.
    pub fn changes_leading_to(&self, kind: &str, code: &Code) -> Vec<&AcceptedChange> {
        let mut codes = self.older(kind, code);
        codes.push(code.clone());
        let leads =
            |change: &&AcceptedChange| change.kind == kind && codes.iter().any(|code| change.before(code).is_some());
        self.0.entries.values().filter(leads).collect()
    }

    /// Adds and takes back in the file as it is now: what others (git, another `cwm accept`) changed in it since it was read
    /// stays. It is written in one instant and only when it changes; a file with nothing in it is not made.
    ///
    /// # Errors
    /// It cannot be read or written; it is then what it was.
    pub fn save(&self, added: Vec<AcceptedChange>, removed: &[String]) -> Result<(), Error> {
        let _lock = self.0.lock_folder()?;
        let mut now = AcceptedChanges(LineFile::read(self.0.path())?);
        added.into_iter().for_each(|change| now.add(change));
        now.0.entries.retain(|name, _| !removed.contains(name));
        now.0.save()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
