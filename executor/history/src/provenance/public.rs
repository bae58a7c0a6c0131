//! Removes from the provenance everything that must not be published on a page.

use std::collections::BTreeMap;
use std::path::Path;

use cwm_contract::Value;

use super::Disclosure;
use cwm_pipeline::plan::COMMAND_RUN;
use cwm_pipeline::spec::COMMAND;

/// The scheme of a file's address.
const FILE: &str = "file://";

/// Returns a parameter of a key for people. Not even the digest of a secret is disclosed: a short one could be guessed from it.
/// The text of a command keeps its paths, since it is what was done.
pub fn parameter(kind: &str, name: &str, value: &Value, disclosure: Disclosure) -> Value {
    match value {
        Value::Text(text) if (kind, name) == (COMMAND, COMMAND_RUN) => Value::Text(without_logins(text, false)),
        _ => public_value(value, disclosure),
    }
}

fn public_value(value: &Value, disclosure: Disclosure) -> Value {
    match value {
        Value::Map(map) if map.contains_key("$secret") => Value::Text("(secret)".to_owned()),
        Value::Map(map) => {
            let each = |(name, item): (&String, &Value)| match (name.as_str(), item) {
                ("$url", Value::Text(text)) => (name.clone(), Value::Text(url(text))),
                _ => (name.clone(), public_value(item, disclosure)),
            };
            Value::Map(map.iter().map(each).collect::<BTreeMap<_, _>>())
        }
        Value::List(items) => Value::List(items.iter().map(|item| public_value(item, disclosure)).collect()),
        Value::Text(text) => Value::Text(public_text(text, disclosure)),
        other => other.clone(),
    }
}

/// Returns a text whose addresses have neither users nor queries. If it begins as a path, whatever spaces that has, it loses
/// its folders.
fn public_text(text: &str, disclosure: Disclosure) -> String {
    let text = without_logins(text, true);
    let path = match text.get(..FILE.len()) {
        // `file://host/path`, most often without the host.
        Some(scheme) if scheme.eq_ignore_ascii_case(FILE) => {
            let rest = &text[FILE.len()..];
            rest.find('/').map_or(rest, |at| &rest[at..])
        }
        _ => text.as_str(),
    };
    let is_path = path.trim_start().starts_with('/') && path.matches('/').count() > 1;
    if is_path { file(Path::new(path), disclosure) } else { path.to_owned() }
}

/// Returns the name of an external file, or with [`Disclosure::Full`] its path.
pub fn file(path: &Path, disclosure: Disclosure) -> String {
    match (disclosure, path.file_name()) {
        (Disclosure::Full, _) => path.to_string_lossy().into_owned(),
        (Disclosure::Public, Some(name)) => name.to_string_lossy().into_owned(),
        // It ends in `..`, or is the root.
        (Disclosure::Public, None) => "..".to_owned(),
    }
}

/// Returns an address without credentials: without the user before the host and the query after the path.
pub fn url(text: &str) -> String {
    let text = without_users(text);
    text.split(['?', '#']).next().unwrap_or_default().to_owned()
}

/// Returns a text whose addresses have neither users nor queries. A query ends at a space; where an address may have spaces
/// itself, one in a later word is cut, too.
fn without_logins(text: &str, has_spaces: bool) -> String {
    let text = without_users(text);
    let mut public = String::with_capacity(text.len());
    let mut in_address = false;
    for word in text.split_inclusive(char::is_whitespace) {
        let host = word.find("://");
        in_address = host.is_some() || (has_spaces && in_address);
        let from = host.unwrap_or(0);
        match word[from..].find(['?', '#']).filter(|_| in_address) {
            Some(at) => {
                public.push_str(&word[..from + at]);
                public.extend(word.chars().next_back().filter(|last| last.is_whitespace()));
            }
            None => public.push_str(word),
        }
    }
    public
}

/// Removes everything between `://` and the last `@` before the path.
fn without_users(text: &str) -> String {
    let mut public = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (scheme, after) = rest.split_at(at + "://".len());
        public.push_str(scheme);
        let host = &after[..after.find(|next: char| next == '/' || next.is_whitespace()).unwrap_or(after.len())];
        rest = &after[host.rfind('@').map_or(0, |at| at + 1)..];
    }
    public.push_str(rest);
    public
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    fn parameter(value: &Value, disclosure: Disclosure) -> Value {
        super::parameter("train", "data", value, disclosure)
    }

    fn map(name: &str, value: Value) -> Value {
        Value::Map(BTreeMap::from([(name.to_owned(), value)]))
    }

    #[test]
    fn what_may_be_a_secret_is_never_disclosed() {
        let digest = "ab".repeat(32);
        for disclosure in [Disclosure::Public, Disclosure::Full] {
            let nested = Value::List(vec![map("inner", map("$secret", text(&digest)))]);
            assert_eq!(parameter(&nested, disclosure), Value::List(vec![map("inner", text("(secret)"))]));
            let address = "https://ada:pw@host.org:80/a/b.pgn?token=1#x";
            assert_eq!(parameter(&text(address), disclosure), text("https://host.org:80/a/b.pgn"));
            let open = parameter(&map("$url", text(address)), disclosure);
            assert_eq!(open, map("$url", text("https://host.org:80/a/b.pgn")));
            assert_eq!(parameter(&map("$file", text(&digest)), disclosure), map("$file", text(&digest)));
        }
        assert_eq!(url("https://ada@host"), "https://host");
    }

    #[test]
    fn what_logs_people_in_is_cut_wherever_it_stands() {
        for (given, public) in [
            ("https://ada:pw@host/my file.pgn", "https://host/my file.pgn"),
            ("https://ada:pw@host/my file.pgn?token=1", "https://host/my file.pgn"),
            ("src=https://ada:pw@host", "src=https://host"),
            ("https://a/x?t=1 https://ada:pw@b/y#t", "https://a/x https://b/y"),
            ("https://a/x,https://ada:pw@b/y", "https://a/x,https://b/y"),
            ("https://ada:p?w#@host/x", "https://host/x"),
            ("s3://ada:p@w@host/x\n", "s3://host/x\n"),
            ("https://host/@ada/x", "https://host/@ada/x"),
            ("ada@host is no address, is it?", "ada@host is no address, is it?"),
            ("://@", "://"),
        ] {
            for disclosure in [Disclosure::Public, Disclosure::Full] {
                assert_eq!(parameter(&text(given), disclosure), text(public), "{given}");
            }
        }
    }

    #[test]
    fn a_command_is_disclosed_but_for_what_logs_people_in() {
        let run = "/opt/my tool/run -q \"https://ada:pw@host/a?t=1\" | head; [ $? = 0 ]";
        let of = |kind, name| super::parameter(kind, name, &text(run), Disclosure::Public);
        assert_eq!(of("command", "run"), text("/opt/my tool/run -q \"https://host/a | head; [ $? = 0 ]"));
        for other in [of("command", "note"), of("train", "run")] {
            assert!(matches!(&other, Value::Text(text) if !text.contains("/opt")), "{other:?}");
        }
    }

    #[test]
    fn folders_are_disclosed_only_where_all_is() {
        let path = text("/data/ada/games.pgn");
        assert_eq!(parameter(&path, Disclosure::Public), text("games.pgn"));
        assert_eq!(parameter(&path, Disclosure::Full), path);
        assert_eq!(parameter(&text("file:///data/ada/games.pgn"), Disclosure::Public), text("games.pgn"));
        for (path, name) in [
            ("/data/ada lovelace/x.pgn", "x.pgn"),
            (" /data/ada/my games.pgn", "my games.pgn"),
            ("/data/ada/x\n/data/ada/y", "y"),
            ("/data/ada/..", ".."),
            ("file:///data/ada lovelace/x.pgn", "x.pgn"),
            ("FILE://localhost/data/ada/x.pgn", "x.pgn"),
        ] {
            assert_eq!(parameter(&text(path), Disclosure::Public), text(name), "{path}");
        }
        let nested = map("run", Value::List(vec![path.clone()]));
        assert_eq!(parameter(&nested, Disclosure::Public), map("run", Value::List(vec![text("games.pgn")])));
        for whole in ["cat /data/x > \"$out\"", "d64/l1", "/", "e4"] {
            assert_eq!(parameter(&text(whole), Disclosure::Public), text(whole));
        }
    }
}
