//! `sources.lock`: checksums of the content of URLs when they were first fetched, beside the pipelines, for git.
//!
//! It knows URLs and sums; it knows no plan and no store. A pin is a fact about a URL, so all pipelines of a folder share
//! one file, and `--set` makes no difference to it.

mod text;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cwm_contract::{ExpectedChecksum, FetchRequest, FetchResult};

use crate::line_file;
use cwm_core::Error;
use cwm_core::files::read_project_file;

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

/// All pins of a folder of pipelines.
#[derive(Clone, Debug, Default)]
pub struct Pins {
    path: PathBuf,
    pins: BTreeMap<FetchRequest, Pin>,
    /// The text of the file when it was read.
    text: Option<String>,
    read: BTreeMap<FetchRequest, Pin>,
    /// The options after the stage in the command that fetches anew.
    options: String,
}

impl Pins {
    /// No pins, and no file for them.
    pub fn none() -> Pins {
        Pins::default()
    }

    /// The pins beside the pipeline in `yaml`; none if there is no file.
    ///
    /// # Errors
    /// The file cannot be read, is damaged or in the middle of a merge (the error has the lines), or a newer cwm wrote it.
    pub fn beside(yaml: &Path) -> Result<Pins, Error> {
        let path = line_file::path_beside(yaml, FILE_NAME)?;
        let Some(text) = read_project_file(&path)? else { return Ok(Pins { path, ..Pins::none() }) };
        let pins = text::parse(&path, &text)?;
        Ok(Pins { path, read: pins.clone(), pins, text: Some(text), options: String::new() })
    }

    /// The same, whose advice names commands with these options after the stage: those by which this pipeline was found.
    pub fn with_command_options(self, options: String) -> Pins {
        Pins { options, ..self }
    }

    /// Returns the pin of a fetch.
    pub fn get(&self, fetch: &FetchRequest) -> Option<&Pin> {
        self.pins.get(fetch)
    }

    /// Returns the checksum that a fetch by the stage of this name must have, if it is pinned.
    pub fn expected(&self, fetch: &FetchRequest, stage: &str) -> Option<ExpectedChecksum> {
        let pin = self.get(fetch)?;
        Some(ExpectedChecksum {
            fetch: fetch.clone(),
            sha256: pin.sha256.clone(),
            reason: format!("is pinned in {FILE_NAME}"),
            hint: format!(
                "if it was changed on purpose, `cwm pin --update {stage}{}` fetches it anew and pins the new sum",
                self.options
            ),
        })
    }

    /// Forgets what is pinned of these; nothing is written yet.
    pub fn forget<'a>(&mut self, fetches: impl IntoIterator<Item = &'a FetchRequest>) {
        for fetch in fetches {
            self.pins.remove(fetch);
        }
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
        let _lock = line_file::lock_folder(&self.path)?;
        let mut now = Pins::beside(&self.path.with_file_name("pipeline.yaml"))?;
        let mut contradiction = None;
        for FetchResult { fetch, sha256, bytes } in fetched {
            match now.get(&fetch) {
                Some(pin) if pin.sha256 != sha256 && self.read.get(&fetch) != Some(pin) => {
                    let problem = format!("{fetch} gave SHA-256 {sha256}, and meanwhile {} was pinned", pin.sha256);
                    contradiction = Some(Error::usage(format!("{problem} in {}", now.path.display())));
                }
                _ => _ = now.pins.insert(fetch, Pin { sha256, bytes }),
            }
        }
        line_file::replace(&self.path, now.text.as_deref(), &text::write(&now.pins), false)?;
        let hint = "keep the line that is right, and run again";
        contradiction.map_or(Ok(()), |error| Err(error.hint(hint)))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use super::*;

    fn fetched(url: &str, first_bytes: Option<u64>, content: &str) -> FetchResult {
        let fetch = FetchRequest { url: url.into(), first_bytes };
        FetchResult { fetch, sha256: content.repeat(64), bytes: 7 }
    }

    #[test]
    fn it_is_written_when_it_changes_and_others_lines_stay() {
        let folder = tempfile::tempdir().unwrap();
        let yaml = folder.path().join("lichess.yaml");
        let pins = Pins::beside(&yaml).unwrap();
        pins.save([]).unwrap();
        assert!(!folder.path().join(FILE_NAME).exists());
        pins.save([fetched("http://x/b", None, "a"), fetched("http://x/b", Some(3), "b")]).unwrap();
        // `pins` knows nothing of what was written, and keeps it all the same.
        pins.save([fetched("http://x/a", None, "c")]).unwrap();
        let now = Pins::beside(&yaml).unwrap();
        assert_eq!(now.pins.len(), 3);
        assert_eq!(now.get(&fetched("http://x/b", Some(3), "").fetch).unwrap().sha256, "b".repeat(64));
        let now = now.with_command_options(" -f lichess.yaml".into());
        let expected = now.expected(&fetched("http://x/a", None, "").fetch, "games").unwrap();
        assert!(expected.hint.contains("`cwm pin --update games -f lichess.yaml`"), "{}", expected.hint);
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
        let ours = Pins::beside(&yaml).unwrap();
        Pins::beside(&yaml).unwrap().save([fetched("http://x/a", None, "a")]).unwrap();
        let told = ours.save([fetched("http://x/a", None, "b"), fetched("http://x/b", None, "c")]).unwrap_err();
        assert!(told.message.contains(&"a".repeat(64)) && told.message.contains(&"b".repeat(64)), "{}", told.message);
        let mut now = Pins::beside(&yaml).unwrap();
        let fetch = fetched("http://x/a", None, "").fetch;
        assert_eq!((now.get(&fetch).unwrap().sha256.as_str(), now.pins.len()), ("a".repeat(64).as_str(), 2));
        // Forgotten on purpose, what is there is what was read.
        now.forget([&fetch]);
        now.save([fetched("http://x/a", None, "b")]).unwrap();
        assert_eq!(Pins::beside(&yaml).unwrap().get(&fetch).unwrap().sha256, "b".repeat(64));
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
                        let pins = Pins::beside(yaml).unwrap();
                        pins.save([fetched(&format!("http://x/{one}/{number}"), None, "a")]).unwrap();
                    }
                });
            }
        });
        assert_eq!(Pins::beside(&yaml).unwrap().pins.len(), 80);
    }

    #[test]
    fn a_pipeline_whose_lock_file_would_be_this_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Pins::beside(&folder.path().join("sources.yaml")).is_err());
    }
}
