//! The text of `sources.lock`, line by line.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use cwm_contract::FetchRequest;
use serde::{Deserialize, Serialize};

use super::Pin;
use crate::line_file::{Content, Format, Line, lines};
use cwm_core::{Diagnostic, Diagnostics, Digest, Error, Place, Source, Sources};

const FORMAT: Format = Format { name: "cwm-sources", what: "pins", version: 1 };

const INTRODUCTION: &str = "\
# What URLs gave when first fetched; written by `cwm run`, kept in git. What comes later must be the same:
# `cwm pin --update STAGE` accepts other bytes.
";

/// One line.
///
/// # Format, version 1
/// YAML, one line a pin, sorted by URL and length, so that git merges it line by line:
///
/// ```yaml
/// cwm-sources: 1
/// pins:
/// - {"url": "https://…/a.pgn.zst", "sha256": "9f…", "bytes": 17761302}
/// - {"url": "https://…/a.pgn.zst", "first_bytes": 1000000, "sha256": "31…", "bytes": 1000000}
/// ```
///
/// With `first_bytes`, sum and length are those of that beginning of the file. Lines that start with `#` are
/// comments; those of others are gone when a pin is added.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first_bytes: Option<u64>,
    sha256: String,
    bytes: u64,
}

/// The file's text.
pub fn write(pins: &BTreeMap<FetchRequest, Pin>) -> String {
    let mut text = format!("{INTRODUCTION}cwm-sources: {}\npins:\n", FORMAT.version);
    for (FetchRequest { url, first_bytes }, Pin { sha256, bytes }) in pins {
        let first = first_bytes.map(|bytes| format!("\"first_bytes\": {bytes}, ")).unwrap_or_default();
        let url = serde_json::Value::from(url.as_str());
        // Writing to a String cannot fail.
        let _ = writeln!(text, "- {{\"url\": {url}, {first}\"sha256\": \"{sha256}\", \"bytes\": {bytes}}}");
    }
    text
}

/// Parses the pins in `text`.
///
/// # Errors
/// Every line that is not right: one that was guessed at could make other bytes pass for those that were fetched first. Or a
/// newer cwm wrote it.
pub fn parse(path: &Path, text: &str) -> Result<BTreeMap<FetchRequest, Pin>, Error> {
    let source = Source { name: path.display().to_string(), text: text.to_owned() };
    let mut problems = Diagnostics::new(Sources::new(vec![source]));
    let mut pins: BTreeMap<FetchRequest, (Pin, Place)> = BTreeMap::new();
    let mut has_version = false;
    for Line { number, start, text, content, .. } in lines(path, text, &FORMAT)? {
        let (start, line) = (start as u32, number as u32);
        let place = Place { source: 0, start, end: start + text.len() as u32, line, column: 1 };
        match content {
            Content::Conflict => problems.push(
                Diagnostic::at(place, "a merge conflict begins here")
                    .hint("keep the lines that are right; where two differ for one URL, someone fetched other bytes"),
            ),
            Content::Version(true) => has_version = true,
            Content::Version(false) => problems.push(Diagnostic::at(place, "this is not a format version")),
            Content::Entry if text == "pins:" => {}
            Content::Entry => match read(text) {
                Err(problem) => problems
                    .push(Diagnostic::at(place, format!("this is not a pin: {problem}")).hint(
                        "put back what git has of this file, or remove the line: what comes next is pinned then",
                    )),
                Ok((fetch, pin)) => match pins.get(&fetch) {
                    Some((other, first)) if *other != pin => problems.push(
                        Diagnostic::at(place, format!("another sum for {fetch}"))
                            .related(*first, "the first")
                            .hint("keep the one that is right"),
                    ),
                    _ => _ = pins.insert(fetch, (pin, place)),
                },
            },
        }
    }
    if !has_version && problems.is_empty() {
        let place = Place { source: 0, start: 0, end: 0, line: 1, column: 1 };
        problems.push(Diagnostic::at(place, format!("`cwm-sources: {}` is missing", FORMAT.version)));
    }
    Ok(problems.into_result(pins.into_iter().map(|(fetch, (pin, _))| (fetch, pin)).collect())?)
}

fn read(line: &str) -> Result<(FetchRequest, Pin), String> {
    let json = line.strip_prefix("- ").ok_or("it does not begin with `- {`")?;
    let line: Entry = serde_json::from_str(json).map_err(|error| error.to_string())?;
    // Spelled as digests of BLAKE3 are.
    line.sha256.parse::<Digest>().map_err(|_| "its `sha256` is not 64 lower-case hexadecimal digits")?;
    Ok((FetchRequest { url: line.url, first_bytes: line.first_bytes }, Pin { sha256: line.sha256, bytes: line.bytes }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pin(content: char) -> Pin {
        Pin { sha256: content.to_string().repeat(64), bytes: 12 }
    }

    fn pins() -> BTreeMap<FetchRequest, Pin> {
        let fetch = |first_bytes| FetchRequest { url: "http://x/\"a\"".into(), first_bytes };
        BTreeMap::from([(fetch(None), pin('a')), (fetch(Some(12)), pin('b'))])
    }

    fn faults(text: &str) -> String {
        let error = parse(Path::new("sources.lock"), text).unwrap_err();
        error.diagnostics.map_or(error.message, |diagnostics| diagnostics.to_string())
    }

    #[test]
    fn the_text_is_what_it_was() {
        let (a, b) = ("a".repeat(64), "b".repeat(64));
        assert_eq!(
            write(&pins()),
            format!(
                "{INTRODUCTION}cwm-sources: 1\npins:\n\
                 - {{\"url\": \"http://x/\\\"a\\\"\", \"sha256\": \"{a}\", \"bytes\": 12}}\n\
                 - {{\"url\": \"http://x/\\\"a\\\"\", \"first_bytes\": 12, \"sha256\": \"{b}\", \"bytes\": 12}}\n"
            )
        );
    }

    #[test]
    fn a_merge_conflict_and_damage_are_told_with_their_lines() {
        let text = write(&pins());
        let conflict = text.replace("pins:\n", "pins:\n<<<<<<< HEAD\n") + "=======\n>>>>>>> other\n";
        let told = faults(&conflict);
        assert!(told.contains("sources.lock:5:1") && told.contains("merge conflict"), "{told}");
        let told = faults(&text.replace("\"bytes\": 12}\n- ", "\"bytes\": }\n- "));
        assert!(told.contains("sources.lock:5:1") && told.contains("this is not a pin"), "{told}");
        let told = faults(&text.replacen("aaaa", "AAAA", 1));
        assert!(told.contains("lower-case"), "{told}");
        let two = format!(
            "{text}{}\n",
            text.lines()
                .nth(4)
                .unwrap()
                .replace('a', "c")
                .replace("http://x/\\\"c", "http://x/\\\"a")
                .replace("shc", "sha")
        );
        let told = faults(&two);
        assert!(told.contains("another sum for") && told.contains("sources.lock:7:1"), "{told}");
        assert!(faults("cwm-sources: 2\nanything\n").contains("up to 1"));
        assert!(faults("pins:\n").contains("`cwm-sources: 1` is missing"));
        // The same line twice, as a merge of two sides may leave it, says nothing wrong.
        let twice = format!("{text}{}\n", text.lines().last().unwrap());
        assert_eq!(parse(Path::new("x"), &twice).unwrap(), pins());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "([<>=|]{7}( x)?|cwm-sources: ?[0-9]{0,2}|- \\{.{0,12}\\}|.{0,12}|\n){0,8}") {
            drop(parse(Path::new("x"), &text));
        }

        #[test]
        fn what_is_written_reads_back(urls in prop::collection::btree_map((".{1,8}", prop::option::of(1u64..99)), 0u64..99, 0..5)) {
            let pins: BTreeMap<FetchRequest, Pin> = urls
                .into_iter()
                .map(|((url, first_bytes), bytes)| (FetchRequest { url, first_bytes }, Pin { bytes, ..pin('0') }))
                .collect();
            prop_assert_eq!(parse(Path::new("x"), &write(&pins)).unwrap(), pins);
        }
    }
}
