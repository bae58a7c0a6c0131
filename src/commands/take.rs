//! `cwm take`: files that people have, as a stage's result.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use cwm_contract::{DescribeOptions, Shape};
use jiff::Timestamp;
use serde::Serialize;

use crate::cli::TakeArguments;
use crate::output::{is_json, print_json};
use crate::workspace::Workspace;
use cwm_core::{Components, Digest, Error, ExitCode, Key, shell_quote};
use cwm_engine::{KeyStatus, previous_record};
use cwm_pipeline::plan::{Cell, OutputPlan};
use cwm_project::lock_file::{LockFile, LockLine};
use cwm_store::{ActionRecord, Content, Machine, NewAction, NewOutput, OutputShape, RunInfo, Store, WorkFolder};

/// What `--json` prints.
#[derive(Serialize)]
struct Answer {
    label: String,
    key: Key,
    /// Digest of each output.
    outputs: BTreeMap<String, Digest>,
    /// True if it was recorded now; the same result was recorded before otherwise.
    new: bool,
}

/// Runs `cwm take`. The files are copied; the result is recorded under the key that the stage has now, and says that it
/// was taken over.
///
/// # Errors
/// The key of the stage is not known yet; it has another result and that is not to be replaced; an output lacks its file or
/// is not what its format says; the stage is running; or the store cannot be written.
pub fn run(store: Option<&Path>, arguments: &TakeArguments) -> Result<ExitCode, Error> {
    let mut workspace = Workspace::open(store, &arguments.pipeline)?;
    let (index, port) = match workspace.plan.select(&arguments.stage) {
        Ok(_) => (workspace.cell(&arguments.stage)?, None),
        Err(unknown) => {
            let (index, port) = workspace.output(&arguments.stage).map_err(|_| Error::from(unknown))?;
            (index, Some(port))
        }
    };
    let cache_status = workspace.cache_status()?;
    let cell = &workspace.plan.cells[index];
    let given = match arguments.before {
        true => of_before(&workspace, cell, port)?,
        false => given(cell, port, &arguments.files)?,
    };
    let (components, before) = key_of(cell, &cache_status.states[index], &workspace, arguments)?;
    let store = &workspace.store;
    store.create()?;
    let _shared = store.lock_shared(|holder| eprintln!("waiting for the store: {holder}"))?;
    let key = components.key();
    let Some(_lock) = store.try_lock_key(&key, "cwm take")? else {
        let holder = store.holder(&key)?.map_or_else(String::new, |holder| format!(": {holder}"));
        return Err(
            Error::usage(format!("{} is just being made{holder}", cell.label)).hint("wait for that, or stop it")
        );
    };
    let work = store.work(&key);
    let recorded = record(&workspace, cell, &components, &given, &work);
    // What an interrupted attempt kept is of no use once there is a result; without one only the copies go.
    if recorded.is_ok() {
        work.remove()?
    } else {
        work.discard_output()?
    }
    let (record, new) = recorded?;
    let outputs = record.output_digests();
    let is_other = before.is_some_and(|before| before.output_digests() != outputs);
    if is_other && !workspace.plan.sets {
        let mut lock = LockFile::read(workspace.locked.path())?;
        lock.update([(cell.label.clone(), LockLine { key, outputs: outputs.clone() })]);
        lock.save()?;
    }
    if is_json() {
        print_json(&Answer { label: cell.label.to_string(), key, outputs, new })?;
    } else {
        let what = if new { "taken over as the result of" } else { "the very result that was recorded of" };
        eprintln!("{what} {} (key {})", cell.label, key.short());
    }
    Ok(ExitCode::OK)
}

/// The file or folder for each output: all of them, and no others.
fn given(cell: &Cell, port: Option<String>, files: &[String]) -> Result<BTreeMap<String, PathBuf>, Error> {
    let outputs: Vec<&str> = cell.outputs.iter().map(|output| output.name.as_str()).collect();
    let mut given = BTreeMap::new();
    for file in files {
        let (name, path) = match (file.split_once('='), &port, &outputs[..]) {
            (None, Some(port), _) => (port.clone(), file.as_str()),
            (None, None, [only]) => ((*only).to_owned(), file.as_str()),
            (Some((name, path)), _, _) if outputs.contains(&name) => (name.to_owned(), path),
            (Some((name, _)), _, _) if !Path::new(file).exists() => {
                return Err(Error::usage(format!("{} has no output `{name}`", cell.label))
                    .hint(format!("its outputs are {}", outputs.join(", "))));
            }
            (Some(_), Some(port), _) => (port.clone(), file.as_str()),
            (Some(_), None, [only]) => ((*only).to_owned(), file.as_str()),
            _ => {
                return Err(Error::usage(format!("{} has several outputs", cell.label))
                    .hint(format!("give each as PORT=FILE: {}", outputs.join(", "))));
            }
        };
        if given.insert(name.clone(), PathBuf::from(path)).is_some() {
            return Err(Error::usage(format!("output `{name}` is given twice")));
        }
    }
    let lacking: Vec<&str> = outputs.into_iter().filter(|name| !given.contains_key(*name)).collect();
    if lacking.is_empty() {
        return Ok(given);
    }
    Err(Error::usage(format!("{} also has {}", cell.label, lacking.join(", ")))
        .hint("a result has all outputs: give each as PORT=FILE"))
}

/// The outputs of the result that the lock file names.
fn of_before(workspace: &Workspace, cell: &Cell, port: Option<String>) -> Result<BTreeMap<String, PathBuf>, Error> {
    let Workspace { store, files, locked, .. } = workspace;
    let label = &cell.label;
    if port.is_some() {
        return Err(
            Error::usage("a result has all outputs").hint(format!("`cwm take '{label}' --before` takes them all"))
        );
    }
    let Some(record) = previous_record(store, label, locked)? else {
        let words = format!("{label} has no result of before: the lock file names none, or the store does not have it");
        return Err(Error::usage(words).hint("give files, or `cwm pull` it before anything changes"));
    };
    if !store.missing_or_corrupt(&record, files)?.is_empty() {
        let words = format!("files of {label}'s result of before are missing from the store, or damaged");
        return Err(Error::usage(words).hint("take back what changed and run it, or give files"));
    }
    let mut given = BTreeMap::new();
    for output in &cell.outputs {
        let Some(made) = record.outputs.get(&output.name) else {
            return Err(Error::usage(format!("{label}'s result of before has no output `{}`", output.name)));
        };
        given.insert(output.name.clone(), store.path_of(made, files)?);
    }
    Ok(given)
}

/// What the key of the cell is made of, and its recorded result, which may be replaced.
fn key_of(
    cell: &Cell,
    state: &KeyStatus,
    workspace: &Workspace,
    arguments: &TakeArguments,
) -> Result<(Components, Option<ActionRecord>), Error> {
    match state {
        KeyStatus::Absent(resolved) => Ok((resolved.components.clone(), None)),
        KeyStatus::Cached(record) if arguments.replace => {
            Ok((record.components.clone(), Some(record.as_ref().clone())))
        }
        KeyStatus::Cached(record) => Err(Error::usage(format!("{} has a result: {}", cell.label, record.origin()))
            .hint("`--replace` has the lock file name yours; the other stays recorded")),
        KeyStatus::KeyUnknown | KeyStatus::PipeUnread(_) => {
            let sources = cwm_engine::sources(cell).filter(|source| {
                // Only what is not made keeps the key from being known.
                workspace.locked.get(&workspace.plan.cells[*source].label).is_none()
            });
            let names: Vec<String> =
                sources.map(|source| shell_quote(&workspace.plan.cells[source].label.to_string())).collect();
            let run = if names.is_empty() { "cwm run".to_owned() } else { format!("cwm run {}", names.join(" ")) };
            Err(Error::usage(format!("what {} depends on is not made yet, so its key is not known", cell.label))
                .hint(format!("`{run}` first")))
        }
        KeyStatus::Unreadable(error) => Err(Error::system(error.message.clone())),
    }
}

/// Copies, looks over and records.
fn record(
    workspace: &Workspace,
    cell: &Cell,
    components: &Components,
    given: &BTreeMap<String, PathBuf>,
    work: &WorkFolder,
) -> Result<(ActionRecord, bool), Error> {
    let store: &Store = &workspace.store;
    let mut outputs = BTreeMap::new();
    let mut taken_from = BTreeMap::new();
    fs::create_dir_all(work.out()).map_err(|error| Error::io("make", &work.out(), error))?;
    fs::create_dir_all(work.tmp()).map_err(|error| Error::io("make", &work.tmp(), error))?;
    work.discard_output()?;
    for output in &cell.outputs {
        let path = &given[&output.name];
        let from = std::path::absolute(path).map_err(|error| Error::io("find", path, error))?;
        let shape = shape(output, path)?;
        let copy = work.out().join(&output.name);
        copy_all(path, &copy)?;
        if let Some(inspector) = crate::registry::inspector() {
            let detail =
                DescribeOptions { examples: 0, cores: std::thread::available_parallelism().map_or(1, usize::from) };
            inspector.describe(&output.format, &copy, detail).map_err(|failure| {
                let words =
                    format!("{} is not the {} that {}.{} is", path.display(), output.format, cell.label, output.name);
                Error::usage(format!("{words}: {}", failure.message))
            })?;
        }
        outputs.insert(
            output.name.clone(),
            NewOutput { format: output.format.clone(), shape, content: Content::Local(copy) },
        );
        taken_from.insert(output.name.clone(), from);
    }
    let recorded = store.record(NewAction {
        pipeline: workspace.plan.file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        label: cell.label.clone(),
        components: components.clone(),
        outputs,
        cause: vec!["taken over from files".to_owned()],
        metrics: BTreeMap::new(),
        probe: BTreeMap::new(),
        fetched: Vec::new(),
        log: None,
        circumstances: RunInfo {
            started: Timestamp::now(),
            wall_seconds: 0.0,
            user_seconds: 0.0,
            system_seconds: 0.0,
            peak_memory_bytes: 0,
            machine: Machine::here(),
            devices: Vec::new(),
            computed_on: None,
            is_resumed: false,
            taken_from,
            user: cwm_action::user(),
            cwm_version: env!("CARGO_PKG_VERSION").to_owned(),
        },
    })?;
    Ok((recorded.record, recorded.new))
}

/// What is given, if the output can be that.
fn shape(output: &OutputPlan, path: &Path) -> Result<OutputShape, Error> {
    let metadata = fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Error::usage(format!("there is no file {}", path.display())),
        _ => Error::io("read", path, error),
    })?;
    match (output.shape, metadata.is_dir()) {
        (Shape::Folder | Shape::FileOrFolder(_), true) => Ok(OutputShape::Folder),
        (Shape::File(_) | Shape::FileOrFolder(_), false) => Ok(output.shape.into()),
        (Shape::File(_), true) => {
            Err(Error::usage(format!("{} is a folder, and `{}` is a file", path.display(), output.name)))
        }
        (Shape::Folder, false) => {
            Err(Error::usage(format!("{} is a file, and `{}` is a folder", path.display(), output.name)))
        }
    }
}

/// A copy of a file, or of a folder with all that is in it; links are followed.
fn copy_all(from: &Path, to: &Path) -> Result<(), Error> {
    let metadata = fs::metadata(from).map_err(|error| Error::io("read", from, error))?;
    if metadata.is_file() {
        return fs::copy(from, to).map(drop).map_err(|error| Error::io("copy", from, error));
    }
    if !metadata.is_dir() {
        return Err(Error::usage(format!("{} is neither a file nor a folder", from.display())));
    }
    fs::create_dir(to).map_err(|error| Error::io("make", to, error))?;
    for entry in fs::read_dir(from).map_err(|error| Error::io("read the folder", from, error))? {
        let entry = entry.map_err(|error| Error::io("read the folder", from, error))?;
        copy_all(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
