//! Finds the tables that an artifact's files make.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use cwm_contract::{Failure, StoredOutput};

/// The format of a file, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Parquet.
    Parquet,
    /// An Arrow IPC file.
    Arrow,
    /// A JSON object a line.
    JsonLines,
}

impl Kind {
    /// Returns the suffix that distinguishes tables of one name.
    fn word(self) -> &'static str {
        match self {
            Kind::Parquet => "parquet",
            Kind::Arrow => "arrow",
            Kind::JsonLines => "jsonl",
        }
    }
}

/// Files of one kind that are one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The format of all of them.
    pub kind: Kind,
    /// In their order.
    pub paths: Vec<PathBuf>,
}

/// No line of JSON is longer: 1 MiB.
const LONGEST_LINE: u64 = 1 << 20;

/// The tables of an artifact, by name. A file is one, named as the output; a folder is one for its files whose names
/// differ in their numbers only (`games-00000.arrow`), named as the output if there are no others, else as the files.
/// Files of one name and of several kinds are a table a kind, `games_arrow` and `games_parquet`.
///
/// # Errors
/// Files cannot be read, or the name of a table that is made so is another's.
pub fn tables(artifact: &StoredOutput) -> Result<BTreeMap<String, Files>, Failure> {
    let name = table_name(&artifact.output_name);
    if !artifact.path.is_dir() {
        let files = kind(&artifact.path)?.map(|kind| Files { kind, paths: vec![artifact.path.clone()] });
        return Ok(files.into_iter().map(|files| (name.clone(), files)).collect());
    }
    let mut found: BTreeMap<(String, Kind), Vec<PathBuf>> = BTreeMap::new();
    for path in below(&artifact.path)? {
        let Some(kind) = kind(&path)? else { continue };
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let (stem, extension) = file.rsplit_once('.').unwrap_or((&file, ""));
        // In a folder a small JSON file may be anything; lines are meant only where the name ends in `.jsonl`.
        if kind == Kind::JsonLines && extension != "jsonl" {
            continue;
        }
        let named = table_name(series(stem));
        found.entry((named, kind)).or_default().push(path);
    }
    if found.len() == 1 {
        return Ok(found.into_iter().map(|((_, kind), paths)| (name.clone(), Files { kind, paths })).collect());
    }
    let names: Vec<String> = found.keys().map(|(named, _)| named.clone()).collect();
    let mut tables = BTreeMap::new();
    for ((named, kind), paths) in found {
        let is_shared = names.iter().filter(|other| **other == named).count() > 1;
        let table = if is_shared { format!("{named}_{}", kind.word()) } else { named };
        if tables.contains_key(&table) {
            let StoredOutput { cell, output_name, .. } = artifact;
            return Err(Failure::input(format!(
                "two kinds of files in {cell}.{output_name} would be one table `{table}`"
            ))
            .hint("give files of different kinds different names"));
        }
        tables.insert(table, Files { kind, paths });
    }
    Ok(tables)
}

/// The name without the number that ends the names of a series: `games` of `games-00000`.
fn series(stem: &str) -> &str {
    let is_number = |number: &str| number.len() == 5 && number.bytes().all(|digit| digit.is_ascii_digit());
    stem.rsplit_once('-').filter(|(_, number)| is_number(number)).map_or(stem, |(name, _)| name)
}

/// All files below `folder`, by name.
fn below(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error| Failure::io("list", folder, error);
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        entries.push(entry.map_err(failed)?.path());
    }
    entries.sort();
    let mut files = Vec::new();
    for path in entries {
        if path.is_dir() { files.extend(below(&path)?) } else { files.push(path) }
    }
    Ok(files)
}

/// Returns the format of `path`, if it holds rows.
fn kind(path: &Path) -> Result<Option<Kind>, Failure> {
    let failed = |error| Failure::io("read", path, error);
    let mut file = BufReader::new(File::open(path).map_err(failed)?).take(LONGEST_LINE);
    let mut first = Vec::new();
    file.by_ref().take(6).read_to_end(&mut first).map_err(failed)?;
    if first.starts_with(b"PAR1") {
        return Ok(Some(Kind::Parquet));
    }
    if first == b"ARROW1" {
        return Ok(Some(Kind::Arrow));
    }
    if !first.starts_with(b"{") {
        return Ok(None);
    }
    file.read_until(b'\n', &mut first).map_err(failed)?;
    let object = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&first);
    Ok(object.is_ok().then_some(Kind::JsonLines))
}

/// A name that needs no quotes in SQL: lower case, and `_` for what is neither a letter nor a digit.
fn table_name(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let name: String = text.chars().map(plain).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("t{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use cwm_contract::Format;

    use super::*;

    fn tables_of(files: &[(&str, &str)]) -> Result<Vec<(String, usize)>, Failure> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let path = folder.path().to_owned();
        let artifact = StoredOutput { cell: "e".into(), output_name: "My-port".into(), format: Format::ANY, path };
        Ok(tables(&artifact)?.into_iter().map(|(name, files)| (name, files.paths.len())).collect())
    }

    fn names(files: &[(&str, &str)]) -> Vec<(String, usize)> {
        tables_of(files).unwrap()
    }

    #[test]
    fn files_in_series_are_one_table_and_others_have_their_own_names() {
        let series = [("games-00000.arrow", "ARROW1"), ("games-00001.arrow", "ARROW1"), ("about.json", "{}")];
        assert_eq!(names(&series), [("my_port".to_owned(), 2)]);
        let several = [("overall.parquet", "PAR1"), ("tables/table-08.parquet", "PAR1"), ("tables/table-08.csv", "a")];
        assert_eq!(names(&several), [("overall".to_owned(), 1), ("table_08".to_owned(), 1)]);
        assert_eq!(names(&[("a.txt", "hello"), ("b.json", "{}")]), []);
        assert_eq!(names(&[("2.jsonl", "{\"a\":1}\n{"), ("x.parquet", "PAR1")])[0].0, "t2");
    }

    #[test]
    fn no_file_is_dropped_because_one_of_another_kind_has_its_name() {
        let series = [("a-00000.arrow", "ARROW1"), ("a-00001.parquet", "PAR1"), ("a-00002.parquet", "PAR1")];
        assert_eq!(names(&series), [("a_arrow".to_owned(), 1), ("a_parquet".to_owned(), 2)]);
        let several = [("x.jsonl", "{}\n"), ("x.parquet", "PAR1"), ("y.arrow", "ARROW1")];
        let expected = ["x_jsonl", "x_parquet", "y"].map(|name| (name.to_owned(), 1));
        assert_eq!(names(&several), expected);
        let taken = [("x.arrow", "ARROW1"), ("x.parquet", "PAR1"), ("x_arrow.parquet", "PAR1")];
        let message = tables_of(&taken).unwrap_err().message;
        assert_eq!(message, "two kinds of files in e.My-port would be one table `x_arrow`");
    }

    #[test]
    fn a_single_file_is_known_by_its_first_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0c1f");
        let kind = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            kind(&path).unwrap()
        };
        assert_eq!(kind(b"PAR1..."), Some(Kind::Parquet));
        assert_eq!(kind(b"ARROW1\0\0"), Some(Kind::Arrow));
        assert_eq!(kind(b"{\"a\": 1}\n{\"a\": 2}\n"), Some(Kind::JsonLines));
        assert_eq!(kind(b"{\n  \"a\": 1\n}\n"), None);
        assert_eq!((kind(b""), kind(b"[Site \"x\"]"), kind(b"PAR")), (None, None, None));
    }
}
