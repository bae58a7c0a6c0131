//! `cwm accept --files` and `--previous`: record files, or the previous result, as the result of a stage.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use cwm_contract::{DescribeOptions, Shape};
use fs_err as fs;
use jiff::Timestamp;
use serde_json::json;

use crate::cli::AcceptArguments;
use crate::output::{is_json, print_json};
use crate::workspace::Workspace;
use cwm_core::{Components, Error, ExitCode, Key, OutputDigests, shell_quote};
use cwm_engine::{CacheStatus, KeyStatus};
use cwm_pipeline::plan::{Cell, OutputPlan};
use cwm_project::lock_file::{LockFile, LockLine};
use cwm_project::runs;
use cwm_store::{
    ActionRecord, HostInfo, NewAction, NewOutput, OutputContent, OutputShape, RecordedAction, RunInfo, WorkFolder,
};

/// The result that a cell gets.
struct NewResult {
    /// The cell.
    index: usize,
    /// The files and folders, by output.
    files: BTreeMap<String, PathBuf>,
    /// The components of the key.
    components: Components,
    /// The recorded result that is replaced.
    replaced: Option<ActionRecord>,
}

/// Runs `cwm accept STAGE --files …` or `--previous`. The files are copied; the result is recorded under the key that the
/// stage has now, and as one that was not computed. Nothing is recorded unless all cells can get their results.
///
/// # Errors
/// The key of the stage is not known yet; it has another result and that is not to be replaced; an output has no file or
/// is not of its format; the stage is running; or the store cannot be written.
pub fn run(store: Option<&Path>, arguments: &AcceptArguments) -> Result<ExitCode, Error> {
    let [stage] = &arguments.stages[..] else {
        let message = format!("one stage gets the result, and {} are named", arguments.stages.len());
        let option = if arguments.previous { "--previous" } else { "--files FILE" };
        return Err(Error::usage(message).hint(format!("`cwm accept STAGE {option}`")));
    };
    let workspace = Workspace::open(store, &arguments.pipeline)?;
    let plan = &workspace.plan;
    let (cells, output_name) = match workspace.cell(stage) {
        _ if arguments.previous => (plan.select(stage)?, None),
        Ok(index) => (vec![index], None),
        // It is a stage with several cells.
        Err(error) if plan.select(stage).is_ok() => return Err(error),
        Err(_) => {
            let (index, output_name) = workspace.output(stage)?;
            (vec![index], Some(output_name))
        }
    };
    let cache_status = workspace.cache_status()?;
    // Of several cells, those with a result keep it.
    let is_open = |index: &usize| arguments.replace || !matches!(cache_status.states[*index], KeyStatus::Cached(_));
    let open: Vec<usize> = cells.iter().copied().filter(is_open).collect();
    let cells = if open.is_empty() { cells } else { open };
    let results = cells.into_iter().map(|index| {
        let cell = &plan.cells[index];
        let files = match arguments.previous {
            true => previous_outputs(&workspace, cell)?,
            false => output_files(cell, output_name.as_deref(), &arguments.files)?,
        };
        let (components, replaced) = key_of(&workspace, &cache_status, index, arguments)?;
        Ok(NewResult { index, files, components, replaced })
    });
    let results: Vec<NewResult> = results.collect::<Result<_, Error>>()?;
    workspace.store.create()?;
    let _shared = workspace.store.lock_shared(|owner| eprintln!("waiting for the store: {owner}"))?;
    let mut rows = Vec::new();
    for result in results {
        let label = &plan.cells[result.index].label;
        let (key, outputs, new) = record_result(&workspace, result)?;
        rows.push((label, key, outputs, new));
    }
    match &rows[..] {
        rows if is_json() => {
            let json = rows.iter().map(
                |(label, key, outputs, new)| json!({ "label": label, "key": key, "outputs": outputs, "new": new }),
            );
            let json: Vec<_> = json.collect();
            if let [only] = &json[..] { print_json(only)? } else { print_json(&json)? }
        }
        [(label, key, _, new)] => {
            let what = if *new { "recorded as the result of" } else { "already recorded as the result of" };
            eprintln!("{what} {label} (key {})", key.short());
        }
        rows => eprintln!("recorded the previous results of {} cells of {stage}", rows.len()),
    }
    Ok(ExitCode::OK)
}

/// Records the result of a cell, also in the lock file if that names the one that is replaced. Returns its key and outputs, and
/// true if it is new.
fn record_result(workspace: &Workspace, result: NewResult) -> Result<(Key, OutputDigests, bool), Error> {
    let NewResult { index, files, components, replaced } = result;
    let (store, cell) = (&workspace.store, &workspace.plan.cells[index]);
    let key = components.key();
    let Some(_lock) = store.try_lock_key(&key, "cwm accept")? else {
        let owner = store.lock_owner(&key)?.map_or_else(String::new, |owner| format!(": {owner}"));
        return Err(Error::usage(format!("{} is running{owner}", cell.label)).hint("wait for that, or stop it"));
    };
    let work = store.work_folder(&key);
    let recorded = record(workspace, cell, components, &files, &work);
    // A checkpoint of an interrupted attempt is of no use once there is a result; without one only the copies are deleted.
    let removal = if recorded.is_ok() { work.remove() } else { work.discard_output() };
    removal?;
    let RecordedAction { record, is_new } = recorded?;
    let outputs = record.output_digests();
    if replaced.is_some_and(|replaced| replaced.output_digests() != outputs)
        && (workspace.plan.sets.is_empty() || workspace.has_own_lock())
    {
        let mut lock = LockFile::read(&runs::lock_path(&workspace.plan.file, &workspace.plan.sets))?;
        lock.update([(cell.label.clone(), LockLine { key, outputs: outputs.clone() })]);
        lock.save()?;
    }
    Ok((key, outputs, is_new))
}

/// Assigns each output of a cell its file or folder, from words `OUTPUT=FILE`, or `FILE` for `output_name` or the only
/// output.
fn output_files(cell: &Cell, output_name: Option<&str>, words: &[String]) -> Result<BTreeMap<String, PathBuf>, Error> {
    let names: Vec<&str> = cell.outputs.iter().map(|output| output.name.as_str()).collect();
    let default = output_name.or(if let [only] = names[..] { Some(only) } else { None });
    let mut files = BTreeMap::new();
    for word in words {
        let (name, file) = match (word.split_once('=').filter(|(name, _)| names.contains(name)), default) {
            (Some(assignment), _) => assignment,
            (None, Some(name)) => (name, word.as_str()),
            (None, None) => {
                return Err(Error::usage(format!("`{word}` names none of the outputs of {}", cell.label))
                    .hint(format!("give each as OUTPUT=FILE: {}", names.join(", "))));
            }
        };
        if files.insert(name.to_owned(), PathBuf::from(file)).is_some() {
            return Err(Error::usage(format!("output `{name}` is given twice")));
        }
    }
    let missing: Vec<&str> = names.into_iter().filter(|name| !files.contains_key(*name)).collect();
    if missing.is_empty() {
        return Ok(files);
    }
    Err(Error::usage(format!("{} also has {}", cell.label, missing.join(", ")))
        .hint("a result has all outputs: give each as OUTPUT=FILE"))
}

/// Finds the outputs of the result that the lock file names.
fn previous_outputs(workspace: &Workspace, cell: &Cell) -> Result<BTreeMap<String, PathBuf>, Error> {
    let Workspace { store, digests, .. } = workspace;
    let label = &cell.label;
    let Some(record) = workspace.context().previous_record(label)? else {
        let problem =
            format!("{label} has no previous result: the lock file names none, or the store does not have it");
        let label = shell_quote(&label.to_string());
        let error = Error::usage(problem).hint(format!("`cwm accept {label} --files FILE` records a file"));
        let has_remotes = !workspace.config.remotes.is_empty();
        return Err(if has_remotes { error.hint(format!("`cwm pull {label}` fetches it")) } else { error });
    };
    if !store.missing_or_damaged(&record, digests)?.is_empty() {
        let problem = format!("files of {label}'s previous result are missing from the store, or damaged");
        return Err(Error::usage(problem).hint("take back what changed and run it, or give files"));
    }
    let path = |output: &OutputPlan| {
        let missing = || Error::usage(format!("{label}'s previous result has no output `{}`", output.name));
        let recorded = record.outputs.get(&output.name).ok_or_else(missing)?;
        Ok((output.name.clone(), store.path_of(recorded, digests)?))
    };
    cell.outputs.iter().map(path).collect()
}

/// Returns what the key of a cell is made of, and the recorded result that is replaced.
fn key_of(
    workspace: &Workspace,
    cache_status: &CacheStatus,
    index: usize,
    arguments: &AcceptArguments,
) -> Result<(Components, Option<ActionRecord>), Error> {
    let cells = &workspace.plan.cells;
    let label = &cells[index].label;
    match &cache_status.states[index] {
        KeyStatus::Absent(resolved) => Ok((resolved.components.clone(), None)),
        KeyStatus::Cached(record) if arguments.replace => {
            Ok((record.components.clone(), Some(record.as_ref().clone())))
        }
        KeyStatus::Cached(record) => {
            let files: String = arguments.files.iter().map(|file| format!(" {}", shell_quote(file))).collect();
            let (option, new) = match arguments.previous {
                true => ("--previous".to_owned(), "the previous result"),
                false => (format!("--files{files}"), "your files"),
            };
            let stage = shell_quote(&arguments.stages[0]);
            Err(Error::usage(format!("{label} has a result: {}", record.origin()))
                .hint(format!("`cwm accept {stage} {option} --replace` records {new}; the other stays in the store")))
        }
        KeyStatus::KeyUnknown | KeyStatus::PipeUnread(_) => {
            let missing = cwm_engine::sources(&cells[index]).filter(|source| cache_status.record(*source).is_none());
            // It may read several outputs of one cell.
            let missing: BTreeSet<usize> = missing.collect();
            let stages = missing.iter().map(|source| format!(" {}", shell_quote(&cells[*source].label.to_string())));
            Err(Error::usage(format!("the key of {label} is not known, because its dependencies are not computed yet"))
                .hint(format!("`cwm run{}` first", stages.collect::<String>())))
        }
        KeyStatus::Unreadable(error) => Err(Error::system(error.message.clone())),
    }
}

/// Copies the files, checks them and records the result.
fn record(
    workspace: &Workspace,
    cell: &Cell,
    components: Components,
    files: &BTreeMap<String, PathBuf>,
    work: &WorkFolder,
) -> Result<RecordedAction, Error> {
    let (mut outputs, mut taken_from) = (BTreeMap::new(), BTreeMap::new());
    // As a second attempt, which keeps the log of an earlier one.
    work.prepare(2)?;
    for output in &cell.outputs {
        let OutputPlan { name, format, .. } = output;
        let path = &files[name];
        let from = std::path::absolute(path).map_err(|error| Error::io("find", path, error))?;
        let shape = shape(output, path)?;
        let copy = work.out().join(name);
        copy_all(path, &copy).map_err(|error| Error::io("copy", path, error))?;
        if let Some(inspector) = crate::registry::inspector() {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            inspector.describe(format, &copy, DescribeOptions { examples: 0, cores }).map_err(|failure| {
                let problem = format!("{} is not the {format} that {}.{name} is", path.display(), cell.label);
                Error::usage(format!("{problem}: {}", failure.message))
            })?;
        }
        outputs.insert(name.clone(), NewOutput { format: format.clone(), shape, content: OutputContent::Local(copy) });
        taken_from.insert(name.clone(), from);
    }
    let run_info = RunInfo {
        started: Timestamp::now(),
        machine: HostInfo::current(),
        taken_from,
        user: cwm_action::user(),
        cwm_version: env!("CARGO_PKG_VERSION").to_owned(),
        ..RunInfo::default()
    };
    let pipeline = workspace.plan.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let record = ActionRecord::new(pipeline, cell.label.clone(), components, run_info);
    let record = ActionRecord { cause: vec!["recorded from files".to_owned()], ..record };
    Ok(workspace.store.record(NewAction { record, outputs, log: None })?)
}

/// Returns the shape of a file or folder, if the output can have it.
fn shape(output: &OutputPlan, path: &Path) -> Result<OutputShape, Error> {
    let metadata = fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::usage(format!("there is no file {}", path.display())),
        _ => Error::io("read", path, error),
    })?;
    let is_other = |wanted| Error::usage(format!("{} is no {wanted}, as `{}` is", path.display(), output.name));
    match (output.shape, metadata.is_dir()) {
        (Shape::File(_), true) => Err(is_other("file")),
        (Shape::Folder, false) => Err(is_other("folder")),
        (Shape::FileOrFolder(_), true) => Ok(OutputShape::Folder),
        (shape, _) => Ok(shape.into()),
    }
}

/// Copies a file, or a folder with all that is in it; links are followed.
fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    let metadata = fs::metadata(from)?;
    if metadata.is_file() {
        return fs::copy(from, to).map(drop);
    }
    if !metadata.is_dir() {
        return Err(io::Error::other(format!("{} is neither a file nor a folder", from.display())));
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy_all(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
