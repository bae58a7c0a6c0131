//! The manifest of a folder: a canonical list of its files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use cwm_core::files::Result;
use cwm_core::{Digest, FileError};

/// Version of the format that [`Manifest::encode`] writes.
pub const MANIFEST_FORMAT: u32 = 1;

/// The content of a folder.
///
/// # Format, version 1
/// Text. The first line is `cwm-folder 1`; then one JSON array a file, sorted by the bytes of the name:
/// `["name","digest",size,executable]`, without spaces, each line ended by `\n`. The digest of a folder is the BLAKE3
/// of this text, so there is exactly one way to write it, and any other is refused. Names are relative paths with `/`;
/// empty folders are not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    files: BTreeMap<String, ManifestFile>,
}

/// One file of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManifestFile {
    /// Its content.
    pub digest: Digest,
    /// Its bytes.
    pub size: u64,
    /// True if it may be executed.
    pub executable: bool,
}

impl Manifest {
    /// Returns the manifest of `files`.
    ///
    /// # Errors
    /// The problem with a name that must not be in a folder of ours.
    pub fn new(files: BTreeMap<String, ManifestFile>) -> Result<Manifest, String> {
        check_names(files.keys().map(String::as_str))?;
        Ok(Manifest { files })
    }

    /// Returns the files, sorted by name.
    pub fn files(&self) -> &BTreeMap<String, ManifestFile> {
        &self.files
    }

    /// Digests of all files.
    pub fn digests(&self) -> impl Iterator<Item = Digest> {
        self.files.values().map(|file| file.digest)
    }

    /// Returns the number of bytes of all files.
    pub fn size(&self) -> u64 {
        self.files.values().map(|file| file.size).fold(0, u64::saturating_add)
    }

    /// Returns the canonical text.
    pub fn encode(&self) -> String {
        let mut text = format!("cwm-folder {MANIFEST_FORMAT}\n");
        for (name, ManifestFile { digest, size, executable }) in &self.files {
            let name = serde_json::Value::from(name.as_str());
            // Writing to a String cannot fail.
            let _ = writeln!(text, "[{name},\"{digest}\",{size},{executable}]");
        }
        text
    }

    /// Reads the text that [`Manifest::encode`] wrote, the content of `path`. The bytes may come from anywhere.
    ///
    /// # Errors
    /// They are damaged or of a newer version.
    pub fn decode(path: &Path, bytes: &[u8]) -> Result<Manifest> {
        let damaged = |what: &str| FileError::damaged(path, what);
        let text = std::str::from_utf8(bytes).map_err(|_| damaged("it is not UTF-8"))?;
        let (header, lines) = text.split_once('\n').ok_or_else(|| damaged("its first line is not complete"))?;
        let version = header.strip_prefix("cwm-folder ").and_then(|version| version.parse::<u64>().ok());
        let found = version.ok_or_else(|| damaged("it is not the manifest of a folder"))?;
        if found > u64::from(MANIFEST_FORMAT) {
            let (path, what) = (path.to_owned(), "the manifest of a folder");
            return Err(FileError::TooNew { path, what, found, known: MANIFEST_FORMAT });
        }
        let mut files = BTreeMap::new();
        for (index, line) in lines.lines().enumerate() {
            let (name, digest, size, executable): (String, Digest, u64, bool) =
                serde_json::from_str(line).map_err(|error| damaged(&format!("line {}: {error}", index + 2)))?;
            files.insert(name, ManifestFile { digest, size, executable });
        }
        let manifest = Manifest::new(files).map_err(|problem| damaged(&problem))?;
        if manifest.encode().as_bytes() != bytes {
            return Err(damaged("it is not in canonical form"));
        }
        Ok(manifest)
    }
}

/// Longest name of one file or folder, and longest path, in bytes: what common file systems take.
const LONGEST_PART: usize = 255;
const LONGEST_NAME: usize = 2048;

/// Names that are safe below any folder on any system, and can all be there at once.
fn check_names<'a>(names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    // By lower case, so that names which some file systems take for one meet here.
    let mut seen: BTreeMap<String, (&str, bool)> = BTreeMap::new();
    for name in names {
        check_name(name).map_err(|what| format!("the name {name:?} {what}"))?;
        let ends = name.match_indices('/').map(|(at, _)| at).chain([name.len()]);
        for end in ends {
            let (part, is_file) = (&name[..end], end == name.len());
            match seen.insert(part.to_lowercase(), (part, is_file)) {
                Some((other, _)) if other != part => {
                    return Err(format!("the names {other:?} and {part:?} differ only in case"));
                }
                Some((_, was_file)) if was_file || is_file => {
                    return Err(format!("the name {part:?} stands for a file and for a folder"));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), &'static str> {
    if name.starts_with('/') {
        return Err("is absolute");
    }
    if name.len() > LONGEST_NAME {
        return Err("is too long");
    }
    if name.chars().any(|c| c.is_control() || c == '\\') {
        return Err("has a control character or a backslash");
    }
    for part in name.split('/') {
        match part {
            "" => return Err("has an empty part"),
            "." | ".." => return Err("has a part `.` or `..`"),
            part if part.len() > LONGEST_PART => return Err("is too long"),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file(content: &str) -> ManifestFile {
        ManifestFile { digest: Digest::of(content.as_bytes()), size: content.len() as u64, executable: false }
    }

    fn folder(names: &[&str]) -> Result<Manifest, String> {
        Manifest::new(names.iter().map(|name| ((*name).to_owned(), file(name))).collect())
    }

    fn decode(bytes: &[u8]) -> Result<Manifest> {
        Manifest::decode(Path::new("it"), bytes)
    }

    fn line(name: &str) -> String {
        format!("[{},\"{}\",0,false]\n", serde_json::Value::from(name), Digest::of(b""))
    }

    #[test]
    fn the_text_is_what_it_was() {
        let manifest = folder(&["b/c.txt", "a"]).unwrap();
        assert_eq!(
            manifest.encode(),
            format!(
                "cwm-folder 1\n[\"a\",\"{}\",1,false]\n[\"b/c.txt\",\"{}\",7,false]\n",
                Digest::of(b"a"),
                Digest::of(b"b/c.txt")
            )
        );
    }

    #[test]
    fn hostile_names_are_refused_in_words() {
        for (names, word) in [
            (&["/etc/passwd"][..], "absolute"),
            (&["../x"], "`..`"),
            (&["a/../../x"], "`..`"),
            (&["./a"], "`.`"),
            (&["a//b"], "empty part"),
            (&["a/"], "empty part"),
            (&[""], "empty part"),
            (&["a\nb"], "control"),
            (&["a\0"], "control"),
            (&["a\\b"], "backslash"),
            (&["a", "a/b"], "a file and for a folder"),
            (&["README", "readme"], "only in case"),
            (&["Data/a", "data/b"], "only in case"),
        ] {
            let message = folder(names).unwrap_err();
            assert!(message.contains(word), "{names:?}: {message}");
            let text = names.iter().map(|name| line(name)).collect::<String>();
            let decoded = decode(format!("cwm-folder 1\n{text}").as_bytes());
            assert!(matches!(decoded, Err(FileError::Damaged { .. })), "{names:?}: {decoded:?}");
        }
        assert!(folder(&[&"x".repeat(256)]).is_err());
    }

    #[test]
    fn only_the_canonical_text_is_read() {
        let (a, b) = (line("a"), line("b"));
        assert!(decode(format!("cwm-folder 1\n{a}{b}").as_bytes()).is_ok());
        for text in [
            format!("cwm-folder 1\n{b}{a}"),
            format!("cwm-folder 1\n{a}{a}"),
            format!("cwm-folder 1\n{a}{}", b.trim_end()),
            format!("cwm-folder 01\n{a}"),
            format!("cwm-folder 1\n{}", a.replace(',', ", ")),
            "cwm-folder 1".to_owned(),
            String::new(),
        ] {
            assert!(matches!(decode(text.as_bytes()), Err(FileError::Damaged { .. })), "{text:?}");
        }
        assert!(matches!(decode(b"cwm-folder 2\nanything\n"), Err(FileError::TooNew { found: 2, .. })));
    }

    proptest! {
        #[test]
        fn a_manifest_reads_back_as_written(names in prop::collection::btree_set("[a-z é]{1,3}(/[a-z.]{1,3}){0,2}", 0..6)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            if let Ok(manifest) = folder(&names) {
                prop_assert_eq!(decode(manifest.encode().as_bytes()).unwrap(), manifest);
            }
        }

        #[test]
        fn no_name_that_is_read_leaves_its_folder(name in "[./a\\\\\u{0}-\u{1f}A]{0,8}") {
            if decode(format!("cwm-folder 1\n{}", line(&name)).as_bytes()).is_ok() {
                let path = std::path::Path::new(&name);
                prop_assert!(path.components().all(|part| matches!(part, std::path::Component::Normal(_))));
                prop_assert_eq!(path.components().count(), name.split('/').count());
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            drop(decode(&bytes));
            let mut text = b"cwm-folder 1\n".to_vec();
            text.extend(bytes);
            drop(decode(&text));
        }
    }
}
