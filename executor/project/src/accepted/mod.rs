//! `accepted.lock`: changes of code that were accepted as changing no result, beside the pipelines, for git.
//!
//! It knows kinds of stages and digests of code; it knows no plan and no store. What a change of code does is a matter of
//! the code, so all pipelines of a folder share one file.

mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::line_file;
use cwm_core::files::read_project_file;
use cwm_core::{CanonicalBytes, Components, Error};

/// The name of the file.
pub const FILE_NAME: &str = "accepted.lock";

/// The entry of a code that all else of it is hashed into, but for the parts.
const BASE: &str = "base";

/// The code of a stage, as it enters a key: digests by `base`, `crate …` and `part …`.
pub type Code = BTreeMap<String, String>;

/// A change of the code of one kind of stage: results of the older code stand for the newer.
///
/// It names what changed and, as what all the rest is known by, `base`. So it says nothing of any other state of the code
/// than these two, but holds for all parameters that select other parts, which it does not name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
        Some(AcceptedChange {
            kind: kind.to_owned(),
            code,
            by: String::new(),
            at: String::new(),
            why: None,
            probed: false,
        })
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

/// All that was accepted in a folder of pipelines.
#[derive(Clone, Debug, Default)]
pub struct Accepted {
    path: PathBuf,
    aliases: BTreeMap<String, AcceptedChange>,
    /// The text of the file on disk.
    text: Option<String>,
    warnings: Vec<String>,
}

impl Accepted {
    /// Reads what was accepted beside the pipeline in `yaml`; nothing if there is no file. Of a merge conflict both sides are
    /// taken, and a line that cannot be read is passed over: [`Accepted::warnings`] has them.
    ///
    /// # Errors
    /// The file cannot be read, or a newer cwm wrote it.
    pub fn beside(yaml: &Path) -> Result<Accepted, Error> {
        Accepted::read(line_file::path_beside(yaml, FILE_NAME)?)
    }

    fn read(path: PathBuf) -> Result<Accepted, Error> {
        let Some(text) = read_project_file(&path)? else { return Ok(Accepted { path, ..Accepted::default() }) };
        let (aliases, warnings) = text::parse(&path, &text)?;
        Ok(Accepted { path, aliases, text: Some(text), warnings })
    }

    /// Returns the warnings of reading the file.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// All of it, by name.
    pub fn aliases(&self) -> impl Iterator<Item = (&str, &AcceptedChange)> {
        self.aliases.iter().map(|(name, alias)| (name.as_str(), alias))
    }

    /// Adds one in memory; false if it is there already.
    pub fn add(&mut self, alias: AcceptedChange) -> bool {
        let name = alias.name();
        let is_new = !self.aliases.contains_key(&name);
        if is_new {
            self.aliases.insert(name, alias);
        }
        is_new
    }

    /// Takes one back in memory; false if it is not there.
    pub fn remove(&mut self, name: &str) -> bool {
        self.aliases.remove(name).is_some()
    }

    /// The older codes whose results stand for those of `code`, the nearest first, each once and never `code` itself.
    pub fn older(&self, kind: &str, code: &Code) -> Vec<Code> {
        let mut found = vec![code.clone()];
        let mut next = 0;
        while next < found.len() {
            let now = found[next].clone();
            for alias in self.aliases.values().filter(|alias| alias.kind == kind) {
                found.extend(alias.before(&now).filter(|older| !found.contains(older)));
            }
            next += 1;
        }
        found.remove(0);
        found
    }

    /// The components that results are looked up by in place of `components`, the nearest code first.
    pub fn equivalent_keys(&self, components: &Components) -> impl Iterator<Item = Components> {
        // A key without code depends on none.
        let older = if components.code.is_empty() || self.aliases.is_empty() {
            Vec::new()
        } else {
            self.older(&components.kind, &components.code)
        };
        older.into_iter().map(|code| Components { code, ..components.clone() })
    }

    /// The names of those by which older results stand for results of `code`, directly or not.
    pub fn changes_leading_to(&self, kind: &str, code: &Code) -> Vec<String> {
        let mut codes = self.older(kind, code);
        codes.push(code.clone());
        let leads =
            |alias: &&AcceptedChange| alias.kind == kind && codes.iter().any(|code| alias.before(code).is_some());
        self.aliases.values().filter(leads).map(AcceptedChange::name).collect()
    }

    /// Adds and takes back in the file as it is now: what others (git, another `cwm accept`) changed in it since it was read
    /// stays. It is written in one instant and only when it changes; a file with nothing in it is not made.
    ///
    /// # Errors
    /// It cannot be read or written; it is then what it was.
    pub fn save(&self, added: Vec<AcceptedChange>, removed: &[String]) -> Result<(), Error> {
        let _lock = line_file::lock_folder(&self.path)?;
        let mut now = Accepted::read(self.path.clone())?;
        for alias in added {
            now.add(alias);
        }
        for name in removed {
            now.remove(name);
        }
        let text = text::write(&now.aliases);
        line_file::replace(&self.path, now.text.as_deref(), &text, now.aliases.is_empty())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
