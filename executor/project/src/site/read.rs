//! A site's file as text -> [`Site`].

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use cwm_contract::Value;

use super::slurm::Slurm;
use super::toml_tree::parse;
use super::{ExecutorKind, Remote, RemoteKinds, Site, WHERE_CREDENTIALS_ARE, is_secret};
use cwm_core::located::duration;
use cwm_core::{
    Content, Diagnostic, Diagnostics, NAME_RULE, Node, NodeReader, Place, Source, Sources, SpannedStr, is_name,
    read_regular_file, suggest,
};

const KEYS: &[&str] = &["store", "executor", "remotes", "slurm"];
const REMOTE_KEYS: &[&str] = &["url", "read_only", "timeout"];
const TIMEOUT: Duration = Duration::from_secs(30);
const LIMITS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(3600);
const EXECUTORS: [&str; 2] = ["local", "slurm"];

/// Reads the file; nothing if it is not there.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read(path: &Path, kinds: &dyn RemoteKinds) -> Result<Site, Diagnostics> {
    let name = path.display().to_string();
    let text = text_of(path).map_err(|message| {
        let mut problems = problems_of(&name);
        problems.push(Diagnostic::nowhere(message));
        problems
    })?;
    let folder = path.parent().unwrap_or(Path::new("."));
    text.map_or_else(|| Ok(Site::default()), |text| site(&text, &name, folder, kinds))
}

/// The file's text; nothing if it is not there.
///
/// # Errors
/// It cannot be read, in words.
pub fn text_of(path: &Path) -> Result<Option<String>, String> {
    let shown = path.display();
    let bytes = match read_regular_file(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && std::fs::read_link(path).is_err() => {
            return Ok(None);
        }
        read => read.map_err(|error| format!("cannot read {shown}: {error}"))?,
    };
    String::from_utf8(bytes).map(Some).map_err(|error| format!("{shown}: {}", error.utf8_error()))
}

/// Parses `text`; paths in it are relative to `folder`.
///
/// # Errors
/// Everything that is wrong with it.
pub fn site(text: &str, name: &str, folder: &Path, kinds: &dyn RemoteKinds) -> Result<Site, Diagnostics> {
    let (root, faults) = parse(text);
    let mut problems = problems_of(name);
    if !faults.is_empty() {
        // Each marker of a conflict is also a fault of TOML.
        let faults = conflict(text).map_or(faults, |conflict| vec![conflict]);
        faults.into_iter().for_each(|fault| problems.push(fault));
        return problems.into_result(Site::default());
    }
    let mut site = Site::default();
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let mut reader = NodeReader { problems: &mut problems };
    for (key, value) in reader.map(&root, "a site's file", "keys of a site's file") {
        match key.text.as_str() {
            "store" => site.store = reader.word(value, "`store`").map(|word| folder.join(word.text)),
            "executor" => site.executor = executor(value, &mut reader),
            "remotes" => {
                for (name, value) in reader.map(value, "`remotes`", "remotes") {
                    site.remotes.extend(remote(name, value, &folder, kinds, &mut reader));
                }
            }
            "slurm" => site.slurm = Slurm::read(value, &mut reader),
            _ => unknown_key(&mut reader, key, "cwm.toml", KEYS),
        }
    }
    problems.into_result(site)
}

/// Returns no problems yet of the file called `name`. Without its text, errors show places and no excerpts: a line may hold a
/// credential that somebody wrote there.
fn problems_of(name: &str) -> Diagnostics {
    Diagnostics::new(Sources::new(vec![Source { name: name.to_owned(), text: String::new() }]))
}

/// Reports a key that is not known; of one that is named like a credential, where those belong.
pub(super) fn unknown_key(reader: &mut NodeReader<'_>, key: &SpannedStr, whose: &str, known: &[&str]) {
    if !is_secret(&key.text) {
        return reader.unknown_key(key, whose, known);
    }
    let message = format!("{whose} has no key `{}`", key.text);
    reader.report(Diagnostic::at(key.place, message).hint(WHERE_CREDENTIALS_ARE));
}

/// Reports the first merge conflict in the file.
fn conflict(text: &str) -> Option<Diagnostic> {
    let start = match text.starts_with("<<<<<<< ") {
        true => 0,
        false => text.find("\n<<<<<<< ")? + 1,
    };
    let line = text[..start].matches('\n').count() as u32 + 1;
    let place = Place { source: 0, start: start as u32, end: start as u32 + 7, line, column: 1 };
    let hint = "keep one side of it, or both, without the lines that begin with `<<<<<<<`, `=======` and `>>>>>>>`";
    Some(Diagnostic::at(place, "a conflict that git could not merge begins here").hint(hint))
}

fn executor(node: &Node, reader: &mut NodeReader<'_>) -> ExecutorKind {
    match node.text() {
        Some("local") => ExecutorKind::Local,
        Some("slurm") => ExecutorKind::Slurm,
        text => {
            let hint = text.and_then(|text| suggest(text, "executors", EXECUTORS));
            let message = "`executor` must be \"local\" or \"slurm\"";
            reader.report(Diagnostic::at(node.place, message).maybe_hint(hint));
            ExecutorKind::Local
        }
    }
}

fn remote(
    name: &SpannedStr,
    node: &Node,
    folder: &Path,
    kinds: &dyn RemoteKinds,
    reader: &mut NodeReader<'_>,
) -> Option<Remote> {
    if !is_name(&name.text) {
        let message = format!("`{}` cannot be the name of a remote", name.text);
        reader.report(Diagnostic::at(name.place, message).hint(format!("a name is {NAME_RULE}")));
    }
    let whose = format!("remote `{}`", name.text);
    if !matches!(node.content, Content::Map(_)) {
        let hint = format!("write `[remotes.{}]`, and below it `url = \"s3://bucket/prefix\"`", name.text);
        reader.report(Diagnostic::at(node.place, format!("{whose} must be a table, not {}", node.kind())).hint(hint));
        return None;
    }
    let (mut url, mut has_url, mut read_only, mut timeout) = (None, false, false, TIMEOUT);
    let mut others = Vec::new();
    for (key, value) in reader.map(node, &whose, "its keys") {
        match key.text.as_str() {
            "url" => (url, has_url) = (reader.word(value, "`url`"), true),
            "read_only" => match value.scalar() {
                Some(Value::Bool(yes)) => read_only = *yes,
                _ => reader.report(Diagnostic::at(value.place, "`read_only` must be true or false")),
            },
            "timeout" => match duration(value).filter(|time| LIMITS.contains(time)) {
                Some(time) => timeout = time,
                None => reader.report(Diagnostic::at(value.place, "`timeout` must be a time from \"1s\" to \"1h\"")),
            },
            _ => others.push((key, value)),
        }
    }
    let known = kinds.option_keys(url.as_ref().map_or("", |url| &url.text));
    let all: Vec<&str> = REMOTE_KEYS.iter().chain(&known).copied().collect();
    let (mut options, mut places) = (BTreeMap::new(), BTreeMap::new());
    for (key, value) in others {
        if !known.contains(&key.text.as_str()) {
            unknown_key(reader, key, &whose, &all);
        } else if let Some(word) = reader.word(value, &format!("`{}`", key.text)) {
            places.insert(key.text.clone(), word.place);
            options.insert(key.text.clone(), word.text);
        }
    }
    let Some(url) = url else {
        if !has_url {
            let fault = Diagnostic::at(name.place, format!("{whose} has no `url`"));
            reader.report(fault.hint("a folder, or s3://, gs://, az://, http:// or https://"));
        }
        return None;
    };
    let read_only = read_only || kinds.is_read_only(&url.text);
    let (name, base) = (name.text.clone(), folder.to_owned());
    let remote = Remote { name, url: url.text, base, read_only, options, timeout };
    if let Err(invalid) = kinds.check(&remote) {
        let place = places.get(invalid.key).copied().unwrap_or(url.place);
        reader.report(Diagnostic::at(place, invalid.message).maybe_hint(invalid.hint));
        return None;
    }
    Some(remote)
}
