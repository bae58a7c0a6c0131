//! Parses `cwm.toml` into a [`ProjectConfig`].

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use toml::{Spanned, Value};

use super::slurm::{SlurmConfig, StoreAccess, time_of};
use super::{ExecutorKind, ProjectConfig, Remote, RemoteKinds, WHERE_CREDENTIALS_ARE, is_secret};
use cwm_core::{
    Diagnostic, Diagnostics, NAME_RULE, Place, SourceText, SourceTexts, folder_of, is_name, read_regular_file, suggest,
};

const REMOTE_KEYS: [&str; 3] = ["url", "read_only", "timeout"];
const TIMEOUT: Duration = Duration::from_secs(30);
const LIMITS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(3600);

/// The file as serde reads it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigFile {
    store: Option<Spanned<String>>,
    #[serde(default)]
    executor: ExecutorKind,
    #[serde(default)]
    remotes: BTreeMap<Spanned<String>, Spanned<RemoteTable>>,
    #[serde(default)]
    slurm: SlurmConfig,
}

/// The keys of a remote, some of which depend on its kind.
type RemoteTable = BTreeMap<Spanned<String>, Spanned<Value>>;

impl ProjectConfig {
    /// Reads the file beside `pipeline`; without one, nothing.
    ///
    /// # Errors
    /// It cannot be read; or everything that is wrong with it, in the order of the text.
    pub fn of(pipeline: &Path, kinds: &dyn RemoteKinds) -> Result<ProjectConfig, Diagnostics> {
        let path = &ProjectConfig::path_for(pipeline);
        let text =
            text_of(path).map_err(|message| Diagnostics::of(Diagnostic::without_place(message), sources_of(path)))?;
        parse(&text, path, kinds)
    }
}

/// Returns the text of the file; of one that does not exist none.
///
/// # Errors
/// It cannot be read.
pub fn text_of(path: &Path) -> Result<String, String> {
    let bytes = match read_regular_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound && std::fs::read_link(path).is_err() => Vec::new(),
        bytes => bytes.map_err(|error| format!("cannot read {}: {error}", path.display()))?,
    };
    String::from_utf8(bytes).map_err(|error| format!("{}: {}", path.display(), error.utf8_error()))
}

/// Parses `text`, which `path` holds.
///
/// # Errors
/// The first problem of the file as a whole, else all problems of its remotes.
pub fn parse(text: &str, path: &Path, kinds: &dyn RemoteKinds) -> Result<ProjectConfig, Diagnostics> {
    let wrong = |error: toml::de::Error| Diagnostics::of(problem(text, &error), sources_of(path));
    let file: ConfigFile = toml::from_str(text).map_err(wrong)?;
    let mut problems = Diagnostics::new(sources_of(path));
    let mut report = |span: Range<usize>, message: String, hint: Option<String>| {
        problems.push(Diagnostic::at(Place::in_text(0, text, span), message).maybe_hint(hint));
    };
    let folder = folder_of(path);
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let mut remotes: Vec<_> = file.remotes.iter().collect();
    remotes.sort_by_key(|(name, _)| name.span().start);
    if let Some(store) = file.store.as_ref().filter(|store| store.get_ref().is_empty()) {
        report(store.span(), "`store` must be a path".to_owned(), None);
    }
    if file.slurm.scratch.is_some() && file.slurm.store == StoreAccess::Shared {
        let start = text.find("scratch").unwrap_or_default();
        let hint = "add `store = \"remote\"`, or leave it out".to_owned();
        report(start..start, "`scratch` is for jobs that do not read the run's store".to_owned(), Some(hint));
    }
    let remotes = remotes.into_iter().filter_map(|(name, table)| remote(name, table, &folder, kinds, &mut report));
    let remotes = remotes.collect();
    let store = file.store.map(|store| folder.join(store.into_inner()));
    problems.into_result(ProjectConfig { store, executor: file.executor, remotes, slurm: file.slurm })
}

/// Returns the file without its text, so that problems show places and no excerpts: a line may hold a credential.
fn sources_of(path: &Path) -> SourceTexts {
    SourceTexts::new(vec![SourceText { name: path.display().to_string(), text: String::new() }])
}

/// Describes an error of serde or TOML without the value, which may be a credential.
fn problem(text: &str, error: &toml::de::Error) -> Diagnostic {
    let place = Place::in_text(0, text, error.span().unwrap_or(0..0));
    let message = error.message();
    if let Some(rest) = message.strip_prefix("unknown field `") {
        let mut names = rest.split('`').step_by(2);
        let (key, known) = (names.next().unwrap_or_default(), Vec::from_iter(names));
        return Diagnostic::at(place, format!("cwm.toml has no key `{key}` here")).maybe_hint(key_hint(key, &known));
    }
    let line = text.lines().nth(place.line.saturating_sub(1) as usize).unwrap_or_default();
    let key = line.split_once('=').map(|(key, _)| key.trim());
    let is_bare = |key: &&str| key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    let key = key.filter(is_bare).map(|key| format!("`{key}`: ")).unwrap_or_default();
    let message = message.split_once(", expected ").map_or(message.to_owned(), |(_, what)| format!("expected {what}"));
    let conflict = "git left a merge conflict here: keep one side of it, or both, without its markers";
    let conflict = line.starts_with("<<<<<<<").then(|| conflict.to_owned());
    Diagnostic::at(place, format!("{key}{}", message.replace('\n', ", "))).maybe_hint(conflict)
}

/// Returns a hint about a key that is none of the `known` ones.
fn key_hint(key: &str, known: &[&str]) -> Option<String> {
    if is_secret(key) { Some(WHERE_CREDENTIALS_ARE.to_owned()) } else { suggest(key, "keys", known.iter().copied()) }
}

/// Reads a remote, or reports its problems.
fn remote(
    name: &Spanned<String>,
    table: &Spanned<RemoteTable>,
    folder: &Path,
    kinds: &dyn RemoteKinds,
    report: &mut impl FnMut(Range<usize>, String, Option<String>),
) -> Option<Remote> {
    let label = name.get_ref();
    if !is_name(label) {
        let message = format!("`{label}` cannot be the name of a remote");
        report(name.span(), message, Some(format!("a name is {NAME_RULE}")));
    }
    let fields = table.get_ref();
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let Some(url) = fields.get("url").and_then(|url| text(url.get_ref())) else {
        let hint = "add its folder or URL, such as `url = \"s3://bucket/prefix\"`";
        let (span, message) = match fields.get("url") {
            Some(url) => (url.span(), "`url` must be text, and not empty".to_owned()),
            None => (name.span(), format!("remote `{label}` has no `url`")),
        };
        report(span, message, Some(hint.to_owned()));
        return None;
    };
    let (mut read_only, mut timeout, mut options) = (kinds.is_read_only(&url), TIMEOUT, BTreeMap::new());
    let known: Vec<&str> = REMOTE_KEYS.into_iter().chain(kinds.option_keys(&url)).collect();
    for (key, value) in fields {
        match (key.get_ref().as_str(), value.get_ref()) {
            ("url", _) => {}
            ("read_only", Value::Boolean(yes)) => read_only |= yes,
            ("read_only", _) => report(value.span(), "`read_only` must be true or false".to_owned(), None),
            ("timeout", time) => match time_of(time).filter(|time| LIMITS.contains(time)) {
                Some(time) => timeout = time,
                None => report(value.span(), "`timeout` must be a time from \"1s\" to \"1h\"".to_owned(), None),
            },
            (key, value_of) if known.contains(&key) => match text(value_of) {
                Some(text) => _ = options.insert(key.to_owned(), text),
                None => report(value.span(), format!("`{key}` must be text"), None),
            },
            (word, _) => {
                report(key.span(), format!("remote `{label}` has no key `{word}`"), key_hint(word, &known));
            }
        }
    }
    let (name, base) = (label.clone(), folder.to_owned());
    let remote = Remote { name, url, base, read_only, options, timeout };
    if let Err(invalid) = kinds.check(&remote) {
        report(fields.get(invalid.key).map_or(table.span(), Spanned::span), invalid.message, invalid.hint);
        return None;
    }
    Some(remote)
}
