//! Reads the tables of reports, from an exported folder or from the store.

use std::collections::BTreeMap;
use std::path::Path;

use cwm_contract::Format;

use cwm_core::{Digest, Error};
use cwm_history::diff::TableFile;
use cwm_project::lock_file::{LockFile, LockLine};
use cwm_store::{ActionRecord, Store};

/// The folder of tables in a report.
const TABLES: &str = "tables";
/// The file in that folder that is no table.
const INDEX: &str = "index.json";

const NO_TABLES: &str = "an earlier cwm made it; `cwm run` makes one with tables/*.json";

/// Returns true if a folder is that of a report.
pub fn is_folder(folder: &Path) -> bool {
    folder.join(TABLES).join(INDEX).is_file()
}

/// Returns true if a file in a report is a table.
fn is_table(name: &str) -> bool {
    name.strip_suffix(".json").is_some_and(|stem| !stem.is_empty() && !stem.contains('/')) && name != INDEX
}

/// Reads the tables of a report in a folder.
///
/// # Errors
/// It cannot be read, or has none.
pub fn in_folder(folder: &Path) -> Result<Vec<TableFile>, Error> {
    let place = folder.join(TABLES);
    let cannot = |error| Error::io("read the folder", &place, error);
    let mut tables = Vec::new();
    for entry in std::fs::read_dir(&place).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if is_table(&name) {
            let bytes = std::fs::read(&path).map_err(|error| Error::io("read", &path, error))?;
            tables.push(TableFile::read(&path.to_string_lossy(), &bytes)?);
        }
    }
    if tables.is_empty() {
        return Err(Error::usage(format!("{} holds no tables as JSON", place.display())).hint(NO_TABLES));
    }
    Ok(tables)
}

/// Reads the tables of the report with this digest, which messages call `name`.
///
/// # Errors
/// It is not in the store, is damaged, or has none.
pub fn in_store(name: &str, digest: &Digest, store: &Store) -> Result<Vec<TableFile>, Error> {
    let mut tables = Vec::new();
    for (file, content) in store.manifest(digest)?.files() {
        if let Some(table) = file.strip_prefix(TABLES).and_then(|rest| rest.strip_prefix('/'))
            && is_table(table)
        {
            tables.push(TableFile::read(&format!("{name}/{file}"), &store.read_checked(&content.digest)?)?);
        }
    }
    if tables.is_empty() {
        return Err(Error::usage(format!("{name} holds no tables as JSON")).hint(NO_TABLES));
    }
    Ok(tables)
}

/// Returns the digest of an output, if it is a report.
pub fn digest(record: &ActionRecord, port: &str) -> Option<Digest> {
    record.outputs.get(port).filter(|output| output.format == Format::REPORT).map(|output| output.digest)
}

/// A report that two lock files have.
pub struct Pair {
    /// The cell and the output.
    pub name: String,
    /// The tables of both, or the reason why they cannot be read.
    pub tables: Result<(Vec<TableFile>, Vec<TableFile>), String>,
}

/// Finds the reports that both have, with different content.
///
/// # Errors
/// The store cannot be read.
pub fn of_both(old: &LockFile, new: &LockFile, store: &Store) -> Result<Vec<Pair>, Error> {
    let olds: BTreeMap<&str, &LockLine> = old.cells().collect();
    let mut pairs = Vec::new();
    for (label, now) in new.cells() {
        let Some(before) = olds.get(label).filter(|before| before.outputs != now.outputs) else { continue };
        for (port, digest) in reports_of(now, store)? {
            let Some(earlier) = before.outputs.get(&port).filter(|earlier| **earlier != digest) else { continue };
            let name = format!("{label}.{port}");
            let tables = in_store(&name, earlier, store).and_then(|old| Ok((old, in_store(&name, &digest, store)?)));
            pairs.push(Pair { name, tables: tables.map_err(|error| error.message) });
        }
    }
    Ok(pairs)
}

/// Reads the tables of the one report that a lock file names.
///
/// # Errors
/// It has none or several, or the report is not in the store.
pub fn single_report(name: &str, lock: &LockFile, store: &Store) -> Result<Vec<TableFile>, Error> {
    let mut found = Vec::new();
    for (label, line) in lock.cells() {
        found.extend(reports_of(line, store)?.into_iter().map(|(port, digest)| (format!("{label}.{port}"), digest)));
    }
    match &found[..] {
        [(label, digest)] => in_store(label, digest, store),
        [] => Err(Error::usage(format!("{name} names no report whose record is in the store"))),
        several => {
            let names: Vec<&str> = several.iter().map(|(label, _)| label.as_str()).collect();
            Err(Error::usage(format!("{name} names several reports: {}", names.join(", ")))
                .hint("give the digest of the one that is meant, or a folder that it is exported to"))
        }
    }
}

/// Returns the outputs of a line that are reports, if its record is in the store.
fn reports_of(line: &LockLine, store: &Store) -> Result<Vec<(String, Digest)>, Error> {
    let Some(record) = store.preferred_record(&line.key, Some(&line.outputs))? else { return Ok(Vec::new()) };
    let outputs = line.outputs.iter().filter(|(port, _)| digest(&record, port).is_some());
    Ok(outputs.map(|(port, digest)| (port.clone(), *digest)).collect())
}
