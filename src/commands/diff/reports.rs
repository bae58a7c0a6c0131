//! Reads the tables of reports, from an exported folder or from the store.

use std::collections::BTreeMap;
use std::path::Path;

use cwm_contract::Format;

use super::ReportComparison;
use cwm_core::{Digest, Error, list_some};
use cwm_history::diff::{TableFile, compare};
use cwm_project::lock_file::{LockFile, LockLine};
use cwm_store::{ActionRecord, Store};

/// The folder of tables in a report.
const TABLES: &str = "tables";
/// The file in that folder that is no table.
const INDEX: &str = "index.json";

/// Reads the tables of a report in a folder.
///
/// # Errors
/// It cannot be read, or has none.
pub fn in_folder(folder: &Path) -> Result<Vec<TableFile>, Error> {
    let tables = folder.join(TABLES);
    if !tables.join(INDEX).is_file() {
        return Err(Error::usage(format!("{} holds no tables of a report", folder.display()))
            .hint("`cwm export report DIR` writes such a folder"));
    }
    let entries = std::fs::read_dir(&tables).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
    let entries = entries.map_err(|error| Error::io("read the folder", &tables, error))?;
    let files = entries.iter().map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()));
    read(&folder.to_string_lossy(), files, |path| std::fs::read(&path).map_err(|error| Error::io("read", &path, error)))
}

/// Reads the tables of the report with this digest, which messages call `name`.
///
/// # Errors
/// It is not in the store, is damaged, or has none.
pub fn in_store(name: &str, digest: &Digest, store: &Store) -> Result<Vec<TableFile>, Error> {
    let manifest = store.manifest(digest)?;
    let name_of = |path: &String| Some(path.strip_prefix(TABLES)?.strip_prefix('/')?.to_owned());
    let files = manifest.files().iter().filter_map(|(path, file)| Some((name_of(path)?, file.digest)));
    read(name, files, |digest| Ok(store.read_checked(&digest)?))
}

/// Reads those files of the folder `tables` of a report that are tables.
fn read<F>(
    report: &str,
    files: impl Iterator<Item = (String, F)>,
    content: impl Fn(F) -> Result<Vec<u8>, Error>,
) -> Result<Vec<TableFile>, Error> {
    let is_table = |name: &str| {
        name.strip_suffix(".json").is_some_and(|stem| !stem.is_empty() && !stem.contains('/')) && name != INDEX
    };
    let tables = files.filter(|(name, _)| is_table(name));
    let tables = tables.map(|(name, file)| TableFile::read(&format!("{report}/{TABLES}/{name}"), &content(file)?));
    let tables: Vec<TableFile> = tables.collect::<Result<_, Error>>()?;
    if tables.is_empty() {
        return Err(Error::usage(format!("{report} holds no tables as JSON"))
            .hint("an earlier cwm wrote it; `cwm run` writes one with tables/*.json"));
    }
    Ok(tables)
}

/// Returns the digest of an output, if it is a report.
pub fn digest(record: &ActionRecord, output: &str) -> Option<Digest> {
    record.outputs.get(output).filter(|output| output.format == Format::REPORT).map(|output| output.digest)
}

/// Compares the reports that both have, with different content.
///
/// # Errors
/// The store cannot be read.
pub fn compare_all(
    old: &LockFile,
    new: &LockFile,
    store: &Store,
    tolerance: f64,
) -> Result<Vec<ReportComparison>, Error> {
    let olds: BTreeMap<&str, &LockLine> = old.cells().collect();
    let mut reports = Vec::new();
    for (label, now) in new.cells() {
        let Some(before) = olds.get(label).filter(|before| before.outputs != now.outputs) else { continue };
        for (output, digest) in reports_of(now, store)? {
            let Some(earlier) = before.outputs.get(&output).filter(|other| **other != digest) else { continue };
            let name = format!("{label}.{output}");
            let old = in_store(&name, earlier, store);
            let compared = old.and_then(|old| Ok(compare(&old, &in_store(&name, &digest, store)?, tolerance)));
            let (difference, not_compared) = match compared {
                Ok(difference) => (Some(difference), None),
                Err(error) => (None, Some(error.message)),
            };
            reports.push(ReportComparison { name, not_compared, difference });
        }
    }
    Ok(reports)
}

/// Reads the tables of the one report that a lock file names.
///
/// # Errors
/// It has none or several, or the report is not in the store.
pub fn single_report(name: &str, lock: &LockFile, store: &Store) -> Result<Vec<TableFile>, Error> {
    let mut found = Vec::new();
    for (label, line) in lock.cells() {
        found.extend(reports_of(line, store)?.into_iter().map(|(name, digest)| (format!("{label}.{name}"), digest)));
    }
    match &found[..] {
        [(label, digest)] => in_store(label, digest, store),
        [] => Err(Error::usage(format!("{name} names no report whose record is in the store"))),
        several => {
            let labels = several.iter().map(|(label, _)| label);
            Err(Error::usage(format!("{name} names {} reports: {}", several.len(), list_some(labels, 4)))
                .hint("give the digest of one, which `cwm show STAGE` prints, or the folder of an export"))
        }
    }
}

/// Returns the outputs of a line that are reports, if its record is in the store.
fn reports_of(line: &LockLine, store: &Store) -> Result<Vec<(String, Digest)>, Error> {
    let Some(record) = store.preferred_record(&line.key, Some(&line.outputs))? else { return Ok(Vec::new()) };
    let outputs = line.outputs.iter().filter(|(output, _)| digest(&record, output).is_some());
    Ok(outputs.map(|(output, digest)| (output.clone(), *digest)).collect())
}
