//! The content of a store, read without any code of cwm: records, objects, folders, by their documented formats.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Digests of the outputs by name.
pub type Outputs = BTreeMap<String, String>;

/// Every recorded result by key, where all that the records name is there with the right bytes; and so is every object.
/// Where `gc` was at it, content may lack (`collected`), but none may be wrong.
///
/// # Errors
/// The first thing that is wrong.
pub fn recorded(store: &Path, collected: bool) -> Result<BTreeMap<String, Vec<Outputs>>, String> {
    for object in files_two_deep(&store.join("objects")) {
        let name = digest_of(&object);
        check_object(store, &name)?;
    }
    let mut found = BTreeMap::new();
    for folder in files_two_deep(&store.join("actions")) {
        let key = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut results = Vec::new();
        // Beside records stands what `gc` notes of them.
        for file in entries(&folder).into_iter().filter(|file| file.extension().is_some_and(|end| end == "json")) {
            results.push(record(store, &key, &file, collected)?);
        }
        if !results.is_empty() {
            found.insert(key, results);
        }
    }
    Ok(found)
}

fn record(store: &Path, key: &str, file: &Path, collected: bool) -> Result<Outputs, String> {
    let wrong = |what: &str| format!("{}: {what}", file.display());
    let bytes = plain(file).map_err(|error| wrong(&error))?;
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if name.split_once('-').map(|(_, digest)| digest) != Some(blake3::hash(&bytes).to_hex().as_str()) {
        return Err(wrong("its name does not hold its digest"));
    }
    let record: Value = serde_json::from_slice(&bytes).map_err(|error| wrong(&error.to_string()))?;
    if record["key"] != key {
        return Err(wrong("it is of another key"));
    }
    let mut outputs = Outputs::new();
    for (port, output) in record["outputs"].as_object().ok_or_else(|| wrong("it has no outputs"))? {
        let digest = output["digest"].as_str().ok_or_else(|| wrong("an output has no digest"))?;
        let may_lack = |digest: &str| collected && !object_path(store, digest).exists();
        if may_lack(digest) {
            outputs.insert(port.clone(), digest.to_owned());
            continue;
        }
        let bytes = check_object(store, digest).map_err(|what| wrong(&what))?;
        if output["shape"] == "folder" {
            let text = String::from_utf8(bytes).map_err(|_| wrong("its manifest is no text"))?;
            for line in text.lines().skip(1) {
                let file: Value = serde_json::from_str(line).map_err(|error| wrong(&error.to_string()))?;
                let digest = file[1].as_str().unwrap_or_default();
                if !may_lack(digest) {
                    check_object(store, digest).map_err(|what| wrong(&what))?;
                }
            }
        }
        outputs.insert(port.clone(), digest.to_owned());
    }
    Ok(outputs)
}

fn check_object(store: &Path, digest: &str) -> Result<Vec<u8>, String> {
    let bytes = plain(&object_path(store, digest)).map_err(|error| format!("object {digest}: {error}"))?;
    match blake3::hash(&bytes).to_hex().as_str() == digest {
        true => Ok(bytes),
        false => Err(format!("object {digest} has other bytes")),
    }
}

/// The bytes of a plain file: a pipe would be waited for.
///
/// # Errors
/// It is none, in words.
pub fn plain(path: &Path) -> Result<Vec<u8>, String> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => fs::read(path).map_err(|error| error.to_string()),
        Ok(_) => Err("no plain file".into()),
        Err(error) => Err(error.to_string()),
    }
}

fn object_path(store: &Path, digest: &str) -> PathBuf {
    store.join("objects").join(digest.get(..2).unwrap_or("?")).join(digest.get(2..).unwrap_or("?"))
}

fn digest_of(object: &Path) -> String {
    let part = |path: Option<&Path>| path.and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    part(object.parent()) + &part(Some(object))
}

fn files_two_deep(folder: &Path) -> Vec<PathBuf> {
    entries(folder).iter().flat_map(|shard| entries(shard)).collect()
}

/// The paths in a folder; none if it is no folder.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// The text of every file below a folder, by its path in it.
pub fn tree(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut front = vec![folder.to_owned()];
    while let Some(place) = front.pop() {
        for path in entries(&place) {
            if path.is_dir() {
                front.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
                found.insert(name, fs::read_to_string(&path).unwrap_or_else(|error| error.to_string()));
            }
        }
    }
    found
}
