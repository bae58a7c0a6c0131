//! `cwm run --watch`: runs again whenever a file changes that a run depends on.
//!
//! It looks at the metadata of files twice a second. This works on network file systems, too, whose changes by others the
//! kernel's notifications do not report.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cwm_contract::SourceFiles;

use super::run_until;
use crate::cli::RunArguments;
use crate::events::progress_sink;
use crate::locate::{pipeline_file, select_cells};
use crate::output::{is_json, print_error, print_error_as_json};
use cwm_core::files::is_stream;
use cwm_core::{Error, ExitCode, Stat};
use cwm_engine::RunEvent;
use cwm_pipeline::plan::{self, Body};
use cwm_project::config::ProjectConfig;

/// The time between two looks at the files. A run starts when they did not change for as long.
const INTERVAL: Duration = Duration::from_millis(500);

/// Runs `cwm run --watch`. A signal ends it, with [`ExitCode::INTERRUPTED`].
///
/// # Errors
/// There is no such pipeline, or stage of it, at the start, or a system call fails.
pub fn run(store: Option<&Path>, mut arguments: RunArguments) -> Result<ExitCode, Error> {
    arguments.pipeline.take_from(&mut arguments.words)?;
    let file = pipeline_file(arguments.pipeline.file.as_deref())?;
    // A pipeline with errors is reported by the first run, and may be repaired.
    if let Ok(plan) = plan::load(&file, &arguments.pipeline.sets, &crate::registry::built_in()) {
        select_cells(&plan, &arguments.words)?;
    }
    // It is the same pipeline to the end, even if another file appears in a nearer folder.
    arguments.pipeline.file = Some(file.clone());
    let stopped = Arc::new(AtomicBool::new(false));
    for signal in cwm_engine::stop_signals() {
        signal_hook::flag::register(signal, stopped.clone())
            .map_err(|error| Error::system(format!("cannot watch for signals: {error}")))?;
    }
    let mut sinks = progress_sink(arguments.output, arguments.verbose, Vec::new());
    let mut watched = WatchedFiles::new(&file, &arguments, &WatchedFiles::default());
    loop {
        match run_once(store, &arguments, &watched.files) {
            Ok(ExitCode::INTERRUPTED) => return Ok(ExitCode::INTERRUPTED),
            Ok(_) => {}
            Err(error) => {
                print_error(&error);
                if is_json() {
                    print_error_as_json(&error, true);
                }
            }
        }
        sinks.event(&RunEvent::Watching { files: watched.files.len() });
        let paths = loop {
            if pause(&stopped) {
                return Ok(ExitCode::INTERRUPTED);
            }
            if !have_changed(&watched.files) && !have_changed(&watched.folders) {
                continue;
            }
            // Editors write a file in several steps.
            let mut now = WatchedFiles::new(&file, &arguments, &watched);
            while !pause(&stopped) && (have_changed(&now.files) || have_changed(&now.folders)) {
                now = WatchedFiles::new(&file, &arguments, &watched);
            }
            if stopped.load(Ordering::SeqCst) {
                return Ok(ExitCode::INTERRUPTED);
            }
            let before = std::mem::replace(&mut watched, now).files;
            let paths: BTreeSet<&PathBuf> = watched.files.keys().chain(before.keys()).collect();
            let changed = |path: &&PathBuf| watched.files.get(*path) != before.get(*path);
            let paths: Vec<PathBuf> = paths.into_iter().filter(changed).cloned().collect();
            if !paths.is_empty() {
                break paths;
            }
        };
        sinks.event(&RunEvent::Changed { paths });
    }
}

/// Runs once. If one of `files` changes meanwhile, running cells end and no other one starts.
fn run_once(store: Option<&Path>, arguments: &RunArguments, files: &Stats) -> Result<ExitCode, Error> {
    let drain_requested = Arc::new(AtomicBool::new(false));
    let (flag, files) = (Arc::downgrade(&drain_requested), files.clone());
    std::thread::spawn(move || {
        // The run holds the flag to its end.
        while let Some(flag) = flag.upgrade() {
            flag.fetch_or(have_changed(&files), Ordering::SeqCst);
            drop(flag);
            std::thread::sleep(INTERVAL);
        }
    });
    run_until(store, arguments.clone(), drain_requested)
}

/// Sleeps for [`INTERVAL`]. Returns the flag after that.
fn pause(flag: &AtomicBool) -> bool {
    std::thread::sleep(INTERVAL);
    flag.load(Ordering::SeqCst)
}

/// The metadata of paths; None for those that do not exist.
type Stats = BTreeMap<PathBuf, Option<Stat>>;

fn stat(path: &Path) -> Option<Stat> {
    std::fs::metadata(path).ok().map(|metadata| Stat::from(&metadata))
}

fn stats(paths: impl IntoIterator<Item = PathBuf>) -> Stats {
    paths.into_iter().map(|path| (path.clone(), stat(&path))).collect()
}

fn have_changed(stats: &Stats) -> bool {
    stats.iter().any(|(path, before)| stat(path) != *before)
}

/// The files and folders that a run depends on, as they were at one moment.
#[derive(Default)]
struct WatchedFiles {
    files: Stats,
    /// Folders in which new files may become inputs.
    folders: Stats,
}

impl WatchedFiles {
    /// Looks at the pipeline and at all files that it names. A pipeline with errors names those of `before`.
    fn new(file: &Path, arguments: &RunArguments, before: &WatchedFiles) -> Self {
        // Before the pipeline is read, so that a change while it is read counts.
        let pipeline = stats([file.to_owned(), ProjectConfig::path_for(file)]);
        let mut files: Vec<PathBuf> = before.files.keys().cloned().collect();
        let mut folders: BTreeSet<PathBuf> = before.folders.keys().cloned().collect();
        if let Ok(plan) = plan::load(file, &arguments.pipeline.sets, &crate::registry::built_in()) {
            let cells = plan.ancestors(&plan.select_all(&arguments.words).unwrap_or_default());
            files = plan.external_files(&cells).into_keys().filter(|path| !is_stream(path)).collect();
            folders.clear();
            for (folder, endings) in plan.external_folders(&cells) {
                // The run reports a folder without such files.
                files.extend(SourceFiles(folder.clone()).list(endings).unwrap_or_default());
                add_folders(folder, &mut folders);
            }
            for cell in cells.iter().map(|&cell| &plan.cells[cell]) {
                cell.folders.iter().for_each(|folder| add_folders(folder.clone(), &mut folders));
                let Body::Command(command) = &cell.body else { continue };
                for file in command.deps.iter().map(|name| plan.folder.join(name)) {
                    let above = file.ancestors().skip(1);
                    folders.extend(above.take_while(|folder| folder.starts_with(&plan.folder)).map(Path::to_owned));
                }
            }
        }
        WatchedFiles { files: stats(files).into_iter().chain(pipeline).collect(), folders: stats(folders) }
    }
}

/// Adds a folder and the folders in it. Hidden ones and links are left out, as no stage reads them.
fn add_folders(folder: PathBuf, found: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !is_hidden && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            add_folders(entry.path(), found);
        }
    }
    found.insert(folder);
}
