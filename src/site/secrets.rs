//! What must not stand in a site's file and may do so all the same: covered where a fault's line is shown, which people paste and
//! logs keep.

use std::ops::Range;

use super::address::WHERE_CREDENTIALS_ARE;
use crate::diagnostics::Diagnostic;
use crate::spec::{Content, Node, Reader, Word};

/// A key whose name holds one of these has a secret for its value; none of cwm's own does.
const WORDS: [&str; 5] = ["secret", "key", "token", "passw", "credential"];

/// Reports a key that is not known; of one that is called like a secret, where those come from.
pub fn unknown_key(reader: &mut Reader<'_>, key: &Word, whose: &str, known: &[&str]) {
    if !is_secret(&key.text) {
        return reader.unknown_key(key, whose, known);
    }
    let message = format!("{whose} has no key `{}`", key.text);
    reader.report(Diagnostic::at(key.place, message).hint(WHERE_CREDENTIALS_ARE));
}

/// `shown` with the values of such keys covered, byte for byte as long, so that the places of `root` stay right. What is no TOML
/// is covered by lines too: its tree has holes.
pub fn without_values(shown: &str, root: &Node, is_toml: bool) -> String {
    let mut values = Vec::new();
    find(root, false, true, &mut values);
    if !is_toml {
        by_lines(shown, &mut values);
    }
    values.sort_by_key(|range| range.start);
    let mut apart: Vec<Range<usize>> = Vec::new();
    for range in values {
        match apart.last_mut().filter(|last| range.start < last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => apart.push(range),
        }
    }
    let mut text = shown.to_owned();
    for range in apart {
        if let Some(value) = text.get(range.clone()) {
            let covered: Vec<String> = value.split('\n').map(cover).collect();
            text.replace_range(range, &covered.join("\n"));
        }
    }
    text
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}

/// As many bytes that tell nothing.
fn cover(line: &str) -> String {
    match line.len().checked_sub('…'.len_utf8()) {
        Some(rest) => format!("…{}", " ".repeat(rest)),
        None => "*".repeat(line.len()),
    }
}

/// Where values of such keys are; of tables the values in them.
fn find(node: &Node, is_value: bool, is_root: bool, values: &mut Vec<Range<usize>>) {
    let Content::Map(entries) = &node.content else {
        if is_value {
            values.push(node.place.start as usize..node.place.end as usize);
        }
        return;
    };
    for (key, value) in entries {
        match &value.content {
            // What stands in `remotes` are names that people gave.
            Content::Map(remotes) if is_root && key.text == "remotes" => {
                remotes.iter().for_each(|(_, remote)| find(remote, false, false, values));
            }
            _ => find(value, is_value || is_secret(&key.text), false, values),
        }
    }
}

fn by_lines(text: &str, values: &mut Vec<Range<usize>>) {
    let lower = text.to_ascii_lowercase();
    let mut at = 0;
    for line in lower.split_inclusive('\n') {
        let word = WORDS.iter().filter_map(|word| line.find(word)).min();
        let sign = word.and_then(|word| Some(word + line[word..].find(['=', ':'])? + 1));
        if let Some(from) = sign {
            // One of several lines may have no end.
            let is_long = ["\"\"\"", "'''"].iter().any(|quotes| line[from..].contains(quotes));
            let end = if is_long { text.len() } else { at + line.trim_end().len() };
            values.push(at + from..end.max(at + from));
        }
        at += line.len();
    }
}
