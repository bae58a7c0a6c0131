//! What must not stand on a page that people publish.

use std::collections::BTreeMap;
use std::path::Path;

use cwm_contract::Value;

use super::Telling;

/// A parameter as it stands in a key, for people. Of a secret not even the digest is told: a short one could be guessed
/// from it.
pub fn parameter(value: &Value, telling: Telling) -> Value {
    match value {
        Value::Map(map) if map.contains_key("$secret") => Value::Text("(secret)".to_owned()),
        Value::Map(map) => {
            let told = |(name, item): (&String, &Value)| match (name.as_str(), item) {
                ("$url", Value::Text(text)) => (name.clone(), Value::Text(url(text))),
                _ => (name.clone(), parameter(item, telling)),
            };
            Value::Map(map.iter().map(told).collect::<BTreeMap<_, _>>())
        }
        Value::List(items) => Value::List(items.iter().map(|item| parameter(item, telling)).collect()),
        Value::Text(text) => Value::Text(word(text, telling)),
        other => other.clone(),
    }
}

/// A text that is a whole path loses its folders, an address its user and query. A command's text stays what it is: it
/// is what was done.
fn word(text: &str, telling: Telling) -> String {
    let text = text.strip_prefix("file://").unwrap_or(text);
    if text.contains("://") && !text.contains(char::is_whitespace) {
        return url(text);
    }
    let is_path = text.starts_with('/') && !text.contains(char::is_whitespace) && text.matches('/').count() > 1;
    if is_path { file(Path::new(text), telling) } else { text.to_owned() }
}

/// A file from outside: its name alone, or its path.
pub fn file(path: &Path, telling: Telling) -> String {
    match (telling, path.file_name()) {
        (Telling::Public, Some(name)) => name.to_string_lossy().into_owned(),
        _ => path.to_string_lossy().into_owned(),
    }
}

/// An address without what logs people in: the user before the host, and the query after the path.
pub fn url(text: &str) -> String {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    fn map(name: &str, value: Value) -> Value {
        Value::Map(BTreeMap::from([(name.to_owned(), value)]))
    }

    #[test]
    fn what_may_be_a_secret_is_never_told() {
        let digest = "ab".repeat(32);
        for telling in [Telling::Public, Telling::Full] {
            let nested = Value::List(vec![map("inner", map("$secret", text(&digest)))]);
            assert_eq!(parameter(&nested, telling), Value::List(vec![map("inner", text("(secret)"))]));
            let address = "https://ada:pw@host.org:80/a/b.pgn?token=1#x";
            assert_eq!(parameter(&text(address), telling), text("https://host.org:80/a/b.pgn"));
            let open = parameter(&map("$url", text(address)), telling);
            assert_eq!(open, map("$url", text("https://host.org:80/a/b.pgn")));
            assert_eq!(parameter(&map("$file", text(&digest)), telling), map("$file", text(&digest)));
        }
        assert_eq!(url("https://ada@host"), "https://host");
    }

    #[test]
    fn folders_are_told_only_where_all_is() {
        let path = text("/data/ada/games.pgn");
        assert_eq!(parameter(&path, Telling::Public), text("games.pgn"));
        assert_eq!(parameter(&path, Telling::Full), path);
        assert_eq!(parameter(&text("file:///data/ada/games.pgn"), Telling::Public), text("games.pgn"));
        for whole in ["cat /data/x > \"$out\"", "d64/l1", "/", "e4"] {
            assert_eq!(parameter(&text(whole), Telling::Public), text(whole));
        }
    }
}
