//! The newer form of `torch.save`: a zip archive of uncompressed files, below one folder: `data.pkl`, `byteorder`,
//! `data/0`, `data/1`, …

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use zip::read::ZipReadOptions;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::container::{Place, bytes_of};
use crate::error::ForeignError;
use crate::pickle::{Input, MemoryBudget, Nodes, unpickle};
use crate::tensor::Storage;

/// Files of an archive, at most.
const MOST_FILES: usize = 1 << 20;

/// An open file of that form.
#[derive(Debug)]
pub struct Archive {
    zip: ZipArchive<BufReader<File>>,
    /// A second handle of that file. Both share one cursor, so that this one is read at given places only.
    file: File,
    /// The folder in it, with `/`.
    folder: String,
    /// Storages whose check sums are right.
    checked: HashMap<Box<str>, Place>,
}

impl Archive {
    /// Reads the archive's list of files and its pickle. Objects made of it count towards `budget`.
    ///
    /// # Errors
    /// It cannot be read or is no such file.
    pub fn open(path: &Path, file: BufReader<File>, budget: &mut MemoryBudget) -> Result<(Self, Nodes), ForeignError> {
        let wrong = |what: String| ForeignError::content(path, what);
        let broken = |what: String| ForeignError::part(path, format!("its `data.pkl`{what}"));
        let again = file.get_ref().try_clone().map_err(|error| ForeignError::file("open", path, error))?;
        let zip = ZipArchive::new(file).map_err(|error| unreadable(path, error))?;
        if zip.len() > MOST_FILES {
            return Err(wrong(format!("has {} files inside, more than any checkpoint", zip.len())));
        }
        let names = zip.file_names().map(|name| name.map(|name| name.into_owned()));
        let names: Vec<String> = names.collect::<Result<_, _>>().map_err(|error| unreadable(path, error))?;
        let folders = names.iter().filter_map(|name| name.strip_suffix("data.pkl"));
        let mut folders = folders.filter(|folder| folder.is_empty() || folder.ends_with('/'));
        let folder = match (folders.next(), folders.next()) {
            (Some(folder), None) => folder.to_owned(),
            (Some(_), Some(_)) => return Err(wrong("is a zip archive with several files `data.pkl`".into())),
            _ => return Err(wrong("is a zip archive, but none of torch.save: it has no `data.pkl`".into())),
        };
        if names.iter().any(|name| *name == format!("{folder}constants.pkl")) {
            let message = "is a TorchScript program; save the state_dict() of the model with torch.save";
            return Err(wrong(message.into()));
        }
        let mut archive = Archive { zip, file: again, folder, checked: HashMap::new() };
        if let Some(order) = archive.byte_order(path)?.filter(|order| order != "little") {
            let message = format!("has byte order `{order}`; only `little` is read (torch.save on another machine)");
            return Err(wrong(message));
        }
        let name = format!("{}data.pkl", archive.folder);
        let entry = archive.entry(path, &name)?;
        let mut input = Input::new(BufReader::new(entry));
        let nodes = unpickle(&mut input, budget).map_err(|fault| broken(format!(": {fault}")))?;
        // At its end the check sum is compared.
        let rest = std::io::copy(&mut input.into_inner(), &mut std::io::sink());
        rest.map_err(|error| broken(format!(" is damaged: {error}")))?;
        Ok((archive, nodes))
    }

    /// Returns the location of a storage. Its check sum is verified the first time.
    ///
    /// # Errors
    /// There is none of that name, it has another size, or is damaged.
    pub fn place(&mut self, path: &Path, storage: &Storage) -> Result<Place, ForeignError> {
        if let Some(place) = self.checked.get(&storage.key) {
            return Ok(*place);
        }
        let name = format!("{}data/{}", self.folder, storage.key);
        let wrong = |what: String| ForeignError::part(path, format!("its file `data/{}` {what}", storage.key));
        let mut entry = self.entry(path, &name)?;
        let bytes = entry.size();
        if bytes_of(storage) != Some(bytes) {
            let (length, element) = (storage.length, &storage.element);
            return Err(wrong(format!("has {bytes} bytes, but the pickle declares {length} elements of {element}")));
        }
        let start = entry.data_start().ok_or_else(|| wrong("is nowhere".into()))?;
        let read =
            std::io::copy(&mut entry, &mut std::io::sink()).map_err(|error| wrong(format!("is damaged: {error}")))?;
        if read != bytes {
            return Err(wrong(format!("is cut off after {read} of {bytes} bytes")));
        }
        drop(entry);
        let place = Place { start, bytes };
        self.checked.insert(storage.key.clone(), place);
        Ok(place)
    }

    /// Returns the file that storages are read from.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// A file inside, uncompressed as PyTorch writes them: so nothing inside is larger than the archive.
    fn entry(&mut self, path: &Path, name: &str) -> Result<zip::read::ZipFile<'_, BufReader<File>>, ForeignError> {
        let wrong = |what: &str| ForeignError::part(path, format!("its file `{name}` {what}"));
        let index = self.zip.index_for_name(name).ok_or_else(|| wrong("is missing"))?;
        let raw = self.zip.by_index_raw(index).map_err(|error| unreadable(path, error))?;
        if raw.compression() != CompressionMethod::Stored || raw.encrypted() {
            return Err(wrong("is compressed or encrypted, which torch.save does not do"));
        }
        // PyTorch can be set to compute no sums; it writes 0.
        let unsummed = raw.crc32() == 0;
        drop(raw);
        let options = ZipReadOptions::new().ignore_crc32(unsummed);
        self.zip.by_index_with_options(index, options).map_err(|error| unreadable(path, error))
    }

    fn byte_order(&mut self, path: &Path) -> Result<Option<String>, ForeignError> {
        let name = format!("{}byteorder", self.folder);
        if self.zip.index_for_name(&name).is_none() {
            return Ok(None);
        }
        let mut text = Vec::new();
        let read = self.entry(path, &name)?.take(64).read_to_end(&mut text);
        read.map_err(|error| ForeignError::part(path, format!("its file `byteorder` is damaged: {error}")))?;
        Ok(Some(String::from_utf8_lossy(&text).trim().to_owned()))
    }
}

fn unreadable(path: &Path, error: ZipError) -> ForeignError {
    match error {
        ZipError::Io(error) if error.raw_os_error().is_some() => ForeignError::file("read", path, error),
        other => ForeignError::content(path, format!("is a zip archive that cannot be read: {other}")),
    }
}
