//! A site's file as faults show it, whose lines people paste and logs keep: nothing is shown but what is known to be no secret,
//! which are names that cwm knows, short values of its keys, and of a URL its scheme and its host.

use std::ops::Range;

use super::read::{KEYS, REMOTE_KEYS};
use super::secrets::{is_scheme, is_shown};
use super::slurm;
use cwm_core::located::{Content, Node, Word};
use cwm_core::names::is_name;

/// Keys whose values are places.
const PLACES: [&str; 3] = ["url", "endpoint", "store"];

/// Keys of which nothing is shown, be it short.
const HIDDEN: [&str; 3] = ["remotes", "slurm", "region"];

/// A longer value of another key is not shown.
const LONGEST: usize = 16;

/// `text` with all that may be a secret covered, byte for byte as long, so that the places of `root` stay right. What is no TOML
/// is covered by lines: its tree has holes.
pub fn without_secrets_of(text: &str, root: &Node, is_toml: bool) -> String {
    let mut seen = Seen { text, shown: vec![false; text.len()] };
    match is_toml {
        true => seen.tree(root),
        false => seen.lines(),
    }
    let mut covered = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let at = text.len() - rest.len();
        let is_plain = seen.is_shown(at, rest);
        let end = rest.char_indices().find(|(index, _)| seen.is_shown(at + index, &rest[*index..]) != is_plain);
        let (run, behind) = rest.split_at(end.map_or(rest.len(), |(index, _)| index));
        covered += &if is_plain { run.to_owned() } else { cover(run) };
        rest = behind;
    }
    covered
}

/// As many bytes that tell nothing.
fn cover(run: &str) -> String {
    match run.len().checked_sub('…'.len_utf8()) {
        Some(rest) => format!("…{}", " ".repeat(rest)),
        None => "*".repeat(run.len()),
    }
}

/// Which bytes of a text are shown.
struct Seen<'t> {
    text: &'t str,
    shown: Vec<bool>,
}

impl Seen<'_> {
    /// Whether what stands at `at`, where `rest` begins, is shown: ends of lines are, so that lines stay what they are.
    fn is_shown(&self, at: usize, rest: &str) -> bool {
        self.shown[at] || rest.starts_with(['\n', '\r'])
    }

    fn show(&mut self, range: Range<usize>) {
        if let Some(shown) = self.shown.get_mut(range) {
            shown.fill(true);
        }
    }

    /// Shows what is known to be no secret of a file that can be read.
    fn tree(&mut self, root: &Node) {
        let mut apart = Vec::new();
        self.table(root, KEYS, &mut apart);
        apart.sort_by_key(|range: &Range<usize>| range.start);
        let mut at = 0;
        for range in apart {
            self.between(at..range.start);
            at = at.max(range.end);
        }
        self.between(at..self.text.len());
    }

    /// Shows names and values of a table that has these keys; all of their places come to stand `apart`.
    fn table(&mut self, table: &Node, known: &[&str], apart: &mut Vec<Range<usize>>) {
        let Content::Map(entries) = &table.content else { return };
        for (key, value) in entries {
            self.key(key, is_shown(&key.text), apart);
            match (&value.content, key.text.as_str()) {
                (Content::Map(remotes), "remotes") if known == KEYS => {
                    for (name, remote) in remotes {
                        // A name that people gave.
                        self.key(name, is_name(&name.text), apart);
                        match &remote.content {
                            Content::Map(_) => self.table(remote, REMOTE_KEYS, apart),
                            _ => self.value(remote, None, apart),
                        }
                    }
                }
                (Content::Map(_), "slurm") if known == KEYS => self.table(value, slurm::KEYS, apart),
                (_, name) => self.value(value, known.contains(&name).then_some(name), apart),
            }
        }
    }

    fn key(&mut self, key: &Word, shows: bool, apart: &mut Vec<Range<usize>>) {
        let place = key.place.start as usize..key.place.end as usize;
        if shows {
            self.show(place.clone());
        }
        apart.push(place);
    }

    /// Shows of a value what is known to be no secret; `name` is that of its key, if it is one of cwm's.
    fn value(&mut self, value: &Node, name: Option<&str>, apart: &mut Vec<Range<usize>>) {
        match &value.content {
            Content::List(items) => items.iter().for_each(|item| self.value(item, name, apart)),
            Content::Map(_) => self.table(value, &[], apart),
            Content::Scalar(_) => {
                let place = value.place.start as usize..value.place.end as usize;
                apart.push(place.clone());
                if let Some(name) = name {
                    self.scalar(place, name);
                }
            }
        }
    }

    /// Shows of the value of one of cwm's keys what is known to be no secret.
    fn scalar(&mut self, place: Range<usize>, name: &str) {
        let Some(raw) = self.text.get(place.clone()) else { return };
        let quotes = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quotes| raw.starts_with(quotes)).unwrap_or("");
        let body = raw[quotes.len()..].strip_suffix(quotes).unwrap_or(&raw[quotes.len()..]);
        let shown = match PLACES.contains(&name) {
            true => shown_of_place(body),
            false if HIDDEN.contains(&name) => 0,
            false
                if body.len() <= LONGEST && body.chars().all(|c| c.is_ascii_alphanumeric() || "-+_. ".contains(c)) =>
            {
                body.len()
            }
            false => 0,
        };
        let (begin, end) = (place.start + quotes.len(), place.start + quotes.len() + body.len());
        self.show(place.start..begin + shown);
        self.show(end..place.end);
    }

    /// Shows what stands between names and values, but for remarks and for words that nobody knows.
    fn between(&mut self, range: Range<usize>) {
        let Some(text) = self.text.get(range.clone()) else { return };
        let mut at = range.start;
        for line in text.split_inclusive('\n') {
            let plain = line.find('#').map_or(line, |remark| &line[..=remark]);
            self.words(at, plain);
            at += line.len();
        }
    }

    /// Shows signs, and words that are known.
    fn words(&mut self, at: usize, text: &str) {
        let is_sign = |c: char| " \t=[]{},.#\"'".contains(c);
        let mut begin = 0;
        for (index, sign) in text.char_indices().filter(|(_, c)| is_sign(*c)).chain([(text.len(), ' ')]) {
            if is_shown(&text[begin..index]) {
                self.show(at + begin..at + index);
            }
            begin = (index + sign.len_utf8()).min(text.len());
            self.show(at + index..at + begin);
        }
    }

    /// Shows what is known to be no secret of a file that cannot be read: headers, and short values of cwm's own keys.
    fn lines(&mut self) {
        let (mut at, mut known) = (0, KEYS);
        for line in self.text.split_inclusive('\n') {
            let text = line.trim_end();
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            let is_header = name.trim_start().starts_with('[');
            if is_header {
                let named = |table: &str| name.trim_start().trim_start_matches('[').trim_start().starts_with(table);
                known = match () {
                    () if named("remotes") => REMOTE_KEYS,
                    () if named("slurm") => slurm::KEYS,
                    () => &[],
                };
            }
            if is_header || is_shown(name.trim()) {
                self.words(at, name);
            }
            if let Some(sign) = text.find('=').filter(|_| !is_header && known.contains(&name.trim())) {
                let begin = sign + 1 + value.len() - value.trim_start().len();
                self.show(at + sign..at + begin);
                self.scalar(at + begin..at + text.len(), name.trim());
            }
            at += line.len();
        }
    }
}

/// How many bytes of a place are shown: of a URL its scheme and its host, of a folder all.
fn shown_of_place(body: &str) -> usize {
    let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.~/ ".contains(c));
    let Some((scheme, rest)) = body.split_once("://") else {
        let is_path = body.starts_with(['.', '/', '~']) && !body.starts_with("//");
        return if is_path && is_plain(body) { body.len() } else { 0 };
    };
    if !is_scheme(scheme) {
        return 0;
    }
    let before = scheme.len() + "://".len();
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    let is_host = !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c));
    match is_host && port.len() <= 5 && port.bytes().all(|c| c.is_ascii_digit()) && !path.contains('@') {
        true => before + authority.len(),
        false => before,
    }
}
