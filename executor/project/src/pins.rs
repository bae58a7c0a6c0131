//! `sources.lock`: checksums of the content of URLs when they were first fetched, beside the pipelines, for git.
//!
//! It depends on URLs and sums, not on plans or the store. A pin is a fact about a URL, so all pipelines of a folder share
//! one file, and `--set` makes no difference to it.

use std::collections::BTreeSet;
use std::path::Path;

use cwm_contract::{ExpectedChecksum, FetchRequest, FetchResult};
use serde::Deserialize;

use crate::line_file::{LineEntry, LineFile, ProblemKind};
use cwm_core::{Diagnostic, Diagnostics, Digest, Error, SourceText, SourceTexts};

/// The name of the file.
pub const FILE_NAME: &str = "sources.lock";

/// The content that a URL gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// SHA-256 of the bytes, 64 lower-case hexadecimal digits.
    pub sha256: String,
    /// Their number.
    pub bytes: u64,
}

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
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    url: String,
    first_bytes: Option<u64>,
    /// Spelled as digests of BLAKE3 are.
    sha256: Digest,
    bytes: u64,
}

impl LineEntry for Pin {
    type Key = FetchRequest;
    const FORMAT: &'static str = "cwm-sources";
    const ENTRY: &'static str = "a pin";
    const INTRODUCTION: &'static str = "\
# Pinned hashes of URLs; written by `cwm run`, kept in git. Later fetches must match:
# `cwm lock --update STAGE` pins new content.
";
    const HEADING: &'static str = "pins:";
    const CONFLICT_RULE: &'static str = "where two lines differ for one URL, someone fetched other bytes";

    fn parse(line: &str) -> Result<(FetchRequest, Pin), String> {
        let json = line.strip_prefix("- ").ok_or("it does not begin with `- {`")?;
        let Line { url, first_bytes, sha256, bytes } = serde_json::from_str(json).map_err(|error| error.to_string())?;
        Ok((FetchRequest { url, first_bytes }, Pin { sha256: sha256.to_string(), bytes }))
    }

    fn write(&self, fetch: &FetchRequest, text: &mut String) {
        let first = fetch.first_bytes.map(|bytes| format!("\"first_bytes\": {bytes}, ")).unwrap_or_default();
        let (url, Pin { sha256, bytes }) = (serde_json::Value::from(fetch.url.as_str()), self);
        *text += &format!("- {{\"url\": {url}, {first}\"sha256\": \"{sha256}\", \"bytes\": {bytes}}}\n");
    }
}

/// All pins of a folder of pipelines.
#[derive(Clone, Debug, Default)]
pub struct Pins {
    file: LineFile<Pin>,
    /// The pins that are to be replaced.
    forgotten: BTreeSet<FetchRequest>,
}

impl Pins {
    /// Reads the pins beside the pipeline in `yaml`; none if there is no file.
    ///
    /// # Errors
    /// The file cannot be read, is damaged or in the middle of a merge (the error has the lines), or a newer cwm wrote it.
    pub fn for_pipeline(yaml: &Path) -> Result<Pins, Error> {
        let file = verify_correct(LineFile::for_pipeline(yaml, FILE_NAME)?)?;
        Ok(Pins { file, ..Pins::default() })
    }

    /// Returns the pin of a fetch.
    pub fn get(&self, fetch: &FetchRequest) -> Option<&Pin> {
        self.file.entries.get(fetch).filter(|_| !self.forgotten.contains(fetch))
    }

    /// Returns the checksum that a fetch by the stage of this name must have, if it is pinned.
    pub fn expected_checksum(&self, fetch: &FetchRequest, stage: &str) -> Option<ExpectedChecksum> {
        let pin = self.get(fetch)?;
        Some(ExpectedChecksum {
            fetch: fetch.clone(),
            sha256: pin.sha256.clone(),
            reason: format!("is pinned in {FILE_NAME}"),
            hint: format!(
                "if it was changed on purpose, `cwm lock --update {stage}` fetches it again and pins the new checksum"
            ),
        })
    }

    /// Forgets the pins of these; nothing is written yet.
    pub fn remove<'a>(&mut self, fetches: impl IntoIterator<Item = &'a FetchRequest>) {
        self.forgotten.extend(fetches.into_iter().cloned());
    }

    /// Pins what was fetched, in the file as it is now: what others (git, another run) changed in it since it was read
    /// stays. It is touched only when it changes.
    ///
    /// # Errors
    /// It cannot be read or written, or someone else pinned another sum of the same meanwhile: the others are pinned.
    pub fn save(&self, fetched: impl IntoIterator<Item = FetchResult>) -> Result<(), Error> {
        let fetched: Vec<FetchResult> = fetched.into_iter().collect();
        if fetched.is_empty() {
            return Ok(());
        }
        let _lock = self.file.lock_folder()?;
        let mut now = verify_correct(LineFile::read(self.file.path())?)?;
        let mut contradiction = None;
        for FetchResult { fetch, sha256, bytes } in fetched {
            match now.entries.get(&fetch) {
                Some(pin) if pin.sha256 != sha256 && self.file.entries.get(&fetch) != Some(pin) => {
                    let problem = format!("{fetch} has SHA-256 {sha256}, and meanwhile {} was pinned", pin.sha256);
                    contradiction = Some(Error::usage(format!("{problem} in {}", now.path().display())));
                }
                _ => _ = now.entries.insert(fetch, Pin { sha256, bytes }),
            }
        }
        now.save()?;
        let hint = "keep the line that is right, and run again";
        contradiction.map_or(Ok(()), |error| Err(error.hint(hint)))
    }
}

/// Refuses a file with problems: a line that was guessed at could make other bytes pass for those that were fetched first.
fn verify_correct(file: LineFile<Pin>) -> Result<LineFile<Pin>, Error> {
    let text = file.text.clone().unwrap_or_default();
    let source = SourceText { name: file.path().display().to_string(), text };
    let mut problems = Diagnostics::new(SourceTexts::new(vec![source]));
    for problem in file.problems() {
        let hint = match problem.kind {
            ProblemKind::Conflict | ProblemKind::Contradiction => "keep the lines that are right",
            ProblemKind::Unreadable | ProblemKind::NoVersion => {
                "put back what git has of this file, or remove the line: the content fetched next is pinned"
            }
        };
        problems.push(Diagnostic::at(problem.place, problem.message.clone()).hint(hint));
    }
    Ok(problems.into_result(file)?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use proptest::prelude::*;

    use super::*;

    fn fetched(url: &str, first_bytes: Option<u64>, content: &str) -> FetchResult {
        let fetch = FetchRequest { url: url.into(), first_bytes };
        FetchResult { fetch, sha256: content.repeat(64), bytes: 7 }
    }

    #[test]
    fn it_is_written_when_it_changes_and_others_lines_stay() {
        let folder = tempfile::tempdir().unwrap();
        let yaml = folder.path().join("lichess.yaml");
        let pins = Pins::for_pipeline(&yaml).unwrap();
        pins.save([]).unwrap();
        assert!(!folder.path().join(FILE_NAME).exists());
        pins.save([fetched("http://x/b", None, "a"), fetched("http://x/b", Some(3), "b")]).unwrap();
        // `pins` has nothing of what was written, and keeps it all the same.
        pins.save([fetched("http://x/a", None, "c")]).unwrap();
        let now = Pins::for_pipeline(&yaml).unwrap();
        assert_eq!(now.file.entries.len(), 3);
        assert_eq!(now.get(&fetched("http://x/b", Some(3), "").fetch).unwrap().sha256, "b".repeat(64));
        let expected = now.expected_checksum(&fetched("http://x/a", None, "").fetch, "games").unwrap();
        assert!(expected.hint.contains("`cwm lock --update games`"), "{}", expected.hint);
        // Another file in its place would have another number.
        let number = || fs::metadata(folder.path().join(FILE_NAME)).unwrap().ino();
        let before = number();
        now.save([fetched("http://x/a", None, "c")]).unwrap();
        assert_eq!(number(), before);
        now.save([fetched("http://x/c", None, "c")]).unwrap();
        assert_ne!(number(), before);
    }

    #[test]
    fn a_pin_that_someone_made_meanwhile_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let yaml = folder.path().join("pipeline.yaml");
        let ours = Pins::for_pipeline(&yaml).unwrap();
        Pins::for_pipeline(&yaml).unwrap().save([fetched("http://x/a", None, "a")]).unwrap();
        let error = ours.save([fetched("http://x/a", None, "b"), fetched("http://x/b", None, "c")]).unwrap_err();
        assert!(
            error.message.contains(&"a".repeat(64)) && error.message.contains(&"b".repeat(64)),
            "{}",
            error.message
        );
        let mut now = Pins::for_pipeline(&yaml).unwrap();
        let fetch = fetched("http://x/a", None, "").fetch;
        assert_eq!((now.get(&fetch).unwrap().sha256.as_str(), now.file.entries.len()), ("a".repeat(64).as_str(), 2));
        // Forgotten on purpose, what is there is what was read.
        now.remove([&fetch]);
        now.save([fetched("http://x/a", None, "b")]).unwrap();
        assert_eq!(Pins::for_pipeline(&yaml).unwrap().get(&fetch).unwrap().sha256, "b".repeat(64));
    }

    #[test]
    fn of_those_who_pin_at_once_none_loses_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let yaml = folder.path().join("pipeline.yaml");
        std::thread::scope(|scope| {
            for one in 0..8 {
                let yaml = &yaml;
                scope.spawn(move || {
                    for number in 0..10 {
                        let pins = Pins::for_pipeline(yaml).unwrap();
                        pins.save([fetched(&format!("http://x/{one}/{number}"), None, "a")]).unwrap();
                    }
                });
            }
        });
        assert_eq!(Pins::for_pipeline(&yaml).unwrap().file.entries.len(), 80);
    }

    #[test]
    fn a_pipeline_whose_lock_file_would_be_this_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Pins::for_pipeline(&folder.path().join("sources.yaml")).is_err());
    }

    fn pin(content: char) -> Pin {
        Pin { sha256: content.to_string().repeat(64), bytes: 12 }
    }

    fn pins() -> BTreeMap<FetchRequest, Pin> {
        let fetch = |first_bytes| FetchRequest { url: "http://x/\"a\"".into(), first_bytes };
        BTreeMap::from([(fetch(None), pin('a')), (fetch(Some(12)), pin('b'))])
    }

    fn parse(text: &str) -> Result<BTreeMap<FetchRequest, Pin>, Error> {
        Ok(verify_correct(LineFile::parse("sources.lock".into(), text.to_owned())?)?.entries)
    }

    fn write(pins: &BTreeMap<FetchRequest, Pin>) -> String {
        LineFile { entries: pins.clone(), ..LineFile::default() }.text()
    }

    fn faults(text: &str) -> String {
        let error = parse(text).unwrap_err();
        error.diagnostics.map_or(error.message, |diagnostics| diagnostics.to_string())
    }

    #[test]
    fn the_text_is_what_it_was() {
        let (a, b) = ("a".repeat(64), "b".repeat(64));
        assert_eq!(
            write(&pins()),
            format!(
                "{}cwm-sources: 1\npins:\n\
                 - {{\"url\": \"http://x/\\\"a\\\"\", \"sha256\": \"{a}\", \"bytes\": 12}}\n\
                 - {{\"url\": \"http://x/\\\"a\\\"\", \"first_bytes\": 12, \"sha256\": \"{b}\", \"bytes\": 12}}\n",
                Pin::INTRODUCTION
            )
        );
    }

    #[test]
    fn a_file_with_the_comment_of_an_earlier_cwm_is_read() {
        let text = write(&pins()).replace(Pin::INTRODUCTION, "# What URLs gave when first fetched.\n");
        assert_eq!(parse(&text).unwrap(), pins());
    }

    #[test]
    fn a_merge_conflict_and_damage_are_reported_with_their_lines() {
        let text = write(&pins());
        let conflict = text.replace("pins:\n", "pins:\n<<<<<<< HEAD\n") + "=======\n>>>>>>> other\n";
        let message = faults(&conflict);
        assert!(message.contains("sources.lock:5:1") && message.contains("merge conflict"), "{message}");
        let message = faults(&text.replace("\"bytes\": 12}\n- ", "\"bytes\": }\n- "));
        assert!(message.contains("sources.lock:5:1") && message.contains("this is not a pin"), "{message}");
        let message = faults(&text.replacen("aaaa", "AAAA", 1));
        assert!(message.contains("lower-case"), "{message}");
        let two = format!(
            "{text}{}\n",
            text.lines()
                .nth(4)
                .unwrap()
                .replace('a', "c")
                .replace("http://x/\\\"c", "http://x/\\\"a")
                .replace("shc", "sha")
        );
        let message = faults(&two);
        assert!(message.contains("this contradicts line 5") && message.contains("sources.lock:7:1"), "{message}");
        assert!(faults("cwm-sources: 2\nanything\n").contains("up to 1"));
        assert!(faults("pins:\n").contains("`cwm-sources: 1` is missing"));
        // The same line twice, as a merge of two sides may leave it, is no problem.
        let twice = format!("{text}{}\n", text.lines().last().unwrap());
        assert_eq!(parse(&twice).unwrap(), pins());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "([<>=|]{7}( x)?|cwm-sources: ?[0-9]{0,2}|- \\{.{0,12}\\}|.{0,12}|\n){0,8}") {
            drop(parse(&text));
        }

        #[test]
        fn what_is_written_reads_back(urls in prop::collection::btree_map((".{1,8}", prop::option::of(1u64..99)), 0u64..99, 0..5)) {
            let pins: BTreeMap<FetchRequest, Pin> = urls
                .into_iter()
                .map(|((url, first_bytes), bytes)| (FetchRequest { url, first_bytes }, Pin { bytes, ..pin('0') }))
                .collect();
            prop_assert_eq!(parse(&write(&pins)).unwrap(), pins);
        }
    }
}
