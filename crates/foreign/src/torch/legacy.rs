//! The older form of `torch.save`: four pickles (a magic number, a version, facts of the machine, what was saved), a
//! fifth with the keys of the storages, and the storages, each after its length.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::container::{Place, bytes_of};
use super::reconstruct::{ReconstructedObject, reconstruct};
use crate::error::ForeignError;
use crate::pickle::{BudgetExceeded, Input, MemoryBudget, Node, Nodes, PickleError, unpickle};
use crate::tensor::Storage;

/// 0x1950a86a20f9469cfc6c, the lowest byte first.
const MAGIC: [u8; 10] = [0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19];
/// The only version there ever was.
const VERSION: i64 = 1001;

/// An open file of that form.
#[derive(Debug)]
pub struct Legacy {
    file: File,
    places: HashMap<Box<str>, Place>,
}

impl Legacy {
    /// Reads the pickles, and where the storages lie. Objects made of them count towards `budget`.
    ///
    /// # Errors
    /// It cannot be read or is no such file.
    pub fn open(path: &Path, file: BufReader<File>, budget: &mut MemoryBudget) -> Result<(Self, Nodes), ForeignError> {
        let wrong = |what: &str| ForeignError::content(path, what);
        let broken = |part: &str| {
            let part = part.to_owned();
            move |fault: PickleError| ForeignError::part(path, format!("its pickle of {part}: {fault}"))
        };
        let mut at = 0;
        let mut next = |file: BufReader<File>, part: &str| {
            let mut input = Input::new(file);
            let nodes = unpickle(&mut input, budget).map_err(broken(part))?;
            at += input.position();
            Ok::<_, ForeignError>((input.into_inner(), nodes))
        };
        let (file, magic) = next(file, "the magic number")?;
        if *magic.get(magic.root()) != Node::BigInteger(MAGIC.into()) {
            return Err(wrong("is a pickle, but not one of torch.save"));
        }
        drop(magic);
        let (file, version) = next(file, "the version")?;
        if *version.get(version.root()) != Node::Integer(VERSION) {
            return Err(wrong("is of another version of torch.save's older form than 1001"));
        }
        drop(version);
        let (file, machine) = next(file, "the machine")?;
        if !is_little_endian(&machine) {
            return Err(wrong("was written on a machine that has the highest byte first, which is not read"));
        }
        drop(machine);
        let (file, nodes) = next(file, "what was saved")?;
        let (mut file, keys) = next(file, "the storages")?;
        let declared = declared(&nodes, budget).map_err(|full| wrong(&format!("cannot be read: {full}")))?;
        let places = places(path, &mut file, at, &declared, &keys)?;
        Ok((Legacy { file: file.into_inner(), places }, nodes))
    }

    /// Returns the location of a storage.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn place(&mut self, path: &Path, storage: &Storage) -> Result<Place, ForeignError> {
        let known = self.places.get(&storage.key).copied();
        known.ok_or_else(|| ForeignError::content(path, format!("has no storage `{}`", storage.key)))
    }

    /// Returns the file that storages are read from.
    pub fn file(&self) -> &File {
        &self.file
    }
}

fn is_little_endian(machine: &Nodes) -> bool {
    let Node::Dictionary(facts) = machine.get(machine.root()) else { return false };
    let fact = facts.iter().find(|(key, _)| machine.text(*key) == Some("little_endian"));
    fact.is_some_and(|(_, value)| *machine.get(*value) == Node::Bool(true))
}

/// The storages that the tensors of a pickle name, by their keys.
fn declared(nodes: &Nodes, budget: &mut MemoryBudget) -> Result<BTreeMap<Box<str>, Storage>, BudgetExceeded> {
    let mut declared = BTreeMap::new();
    for value in nodes.handles() {
        let ReconstructedObject::Tensor(tensor) = reconstruct(nodes, value) else { continue };
        if !declared.contains_key(&tensor.storage.key) {
            budget.take(tensor.footprint() + tensor.storage.key.len())?;
            declared.insert(tensor.storage.key.clone(), tensor.storage);
        }
    }
    Ok(declared)
}

/// Returns the locations of the storages that follow the pickles, which end after `at` bytes.
fn places(
    path: &Path,
    file: &mut BufReader<File>,
    at: u64,
    declared: &BTreeMap<Box<str>, Storage>,
    keys: &Nodes,
) -> Result<HashMap<Box<str>, Place>, ForeignError> {
    let wrong = |what: String| ForeignError::content(path, what);
    let unread = |error| ForeignError::file("read", path, error);
    let Node::List(list) = keys.get(keys.root()) else { return Err(wrong("has no list of its storages".into())) };
    let end = file.seek(SeekFrom::End(0)).map_err(unread)?;
    let mut at = at;
    let mut places = HashMap::new();
    for key in list {
        let key: Box<str> = match keys.get(*key) {
            Node::Text(key) => key.clone(),
            Node::Integer(key) => key.to_string().into(),
            _ => return Err(wrong("has a storage without a name".into())),
        };
        let storage = declared.get(&key).ok_or_else(|| wrong(format!("has a storage `{key}` that nothing uses")))?;
        let bytes = bytes_of(storage);
        let bytes =
            bytes.ok_or_else(|| wrong(format!("has a storage `{key}` of unknown size ({})", storage.element)))?;
        file.seek(SeekFrom::Start(at)).map_err(unread)?;
        let mut length = [0; 8];
        file.read_exact(&mut length).map_err(|_| wrong(format!("ends before its storage `{key}`")))?;
        let length = u64::from_le_bytes(length);
        if length != storage.length {
            let message = format!("declares storage `{key}` with {} elements and then with {length}", storage.length);
            return Err(wrong(message));
        }
        let start = at + 8;
        at = start.checked_add(bytes).filter(|next| *next <= end).ok_or_else(|| {
            wrong(format!(
                "ends within its storage `{key}`: {bytes} bytes are needed from byte {start}, the file has {end}"
            ))
        })?;
        places.insert(key, Place { start, bytes });
    }
    Ok(places)
}
