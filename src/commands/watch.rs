//! `cwm watch`: runs again whenever something changes that a run depends on.
//!
//! What may change is looked at twice a second, as the file system tells of it: that works on network file systems, too,
//! where the kernel's notifications do not tell what others write.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cwm_contract::SourceFiles;

use crate::cli::{RunArguments, WatchArguments};
use crate::commands::progress::progress_sink;
use crate::commands::run;
use crate::locate::pipeline_file;
use crate::output::{is_json, print_error, print_error_as_json};
use cwm_core::files::is_stream;
use cwm_core::{Error, ExitCode, Stat};
use cwm_engine::RunEvent;
use cwm_pipeline::plan::{self, Body, Plan};
use cwm_project::site::Site;

/// How often files are looked at; and how long they must be at rest before a run begins.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// How often it is looked whether somebody asked to stop.
const TICK: Duration = Duration::from_millis(50);

/// Runs `cwm watch`. It ends when it is asked to, with [`ExitCode::INTERRUPTED`].
///
/// # Errors
/// There is no such pipeline, or stage of it, at the start, or the system refuses.
pub fn run(store: Option<&Path>, mut arguments: WatchArguments) -> Result<ExitCode, Error> {
    arguments.pipeline.take_from(&mut arguments.words)?;
    let file = pipeline_file(arguments.pipeline.file.as_deref())?;
    // Where it cannot be read now, that is told by the first run, and it may be mended.
    if let Ok(plan) = plan::load(&file, &arguments.pipeline.sets, &crate::registry::built_in()) {
        arguments.words.iter().try_for_each(|word| plan.select(word).map(drop))?;
    }
    // The same pipeline to the end, whatever appears in folders below it.
    arguments.pipeline.file = Some(file.clone());
    let asked = Arc::new(AtomicBool::new(false));
    for signal in cwm_engine::stop_signals() {
        signal_hook::flag::register(signal, asked.clone())
            .map_err(|error| Error::system(format!("cannot watch for signals: {error}")))?;
    }
    let mut sinks = progress_sink(arguments.output, false);
    let mut watched = Watched::look(&file, &arguments, &BTreeSet::new());
    loop {
        let ended = run_once(store, arguments.run(), &watched);
        match ended {
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
        let changed = loop {
            if asked.load(Ordering::SeqCst) {
                return Ok(ExitCode::INTERRUPTED);
            }
            if watched.may_have_changed() {
                let now = at_rest(&file, &arguments, &watched, &asked);
                let changed = now.differs_from(&watched);
                watched = now;
                if !changed.is_empty() {
                    break changed;
                }
            }
            pause(&asked);
        };
        if asked.load(Ordering::SeqCst) {
            return Ok(ExitCode::INTERRUPTED);
        }
        sinks.event(&RunEvent::Changed { paths: changed });
    }
}

/// One run. When something changes meanwhile, what runs is finished and nothing else is begun.
fn run_once(store: Option<&Path>, arguments: RunArguments, watched: &Watched) -> Result<ExitCode, Error> {
    let (changed, ended) = (Arc::new(AtomicBool::new(false)), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !pause(&ended) {
                if watched.files_changed() {
                    changed.store(true, Ordering::SeqCst);
                }
            }
        });
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            run::run_until(store, arguments, changed.clone())
        }));
        ended.store(true, Ordering::SeqCst);
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// What is watched once nothing has changed for a while: editors write a file in several steps.
fn at_rest(file: &Path, arguments: &WatchArguments, before: &Watched, asked: &AtomicBool) -> Watched {
    let files = before.files.keys().cloned().collect();
    loop {
        let now = Watched::look(file, arguments, &files);
        if pause(asked) || !now.may_have_changed() {
            return now;
        }
    }
}

/// Waits until it is time to look again; true if `flag` was set before that.
fn pause(flag: &AtomicBool) -> bool {
    for _ in 0..LOOK_AGAIN.as_millis() / TICK.as_millis() {
        if flag.load(Ordering::SeqCst) {
            return true;
        }
        std::thread::sleep(TICK);
    }
    flag.load(Ordering::SeqCst)
}

/// What a run depends on, as it was at one moment.
struct Watched {
    /// Files; nothing for those that are not there.
    files: BTreeMap<PathBuf, Option<Stat>>,
    /// Folders in which further files may match a glob, with the time of their last change.
    folders: BTreeMap<PathBuf, Option<std::time::SystemTime>>,
}

impl Watched {
    /// Looks at the pipeline and at all files that it names. Where it is wrong now, at those that it named `before`.
    fn look(file: &Path, arguments: &WatchArguments, before: &BTreeSet<PathBuf>) -> Self {
        // Before it is read: what changes in between is seen as a change.
        let first = stat(file);
        let site = Site::path_for(file);
        let mut files = BTreeMap::from([(site.clone(), stat(&site))]);
        let mut folders = BTreeSet::new();
        let mut known = before.clone();
        if let Ok(plan) = plan::load(file, &arguments.pipeline.sets, &crate::registry::built_in()) {
            let cells = wanted(&plan, &arguments.words);
            known = plan.external_files(&cells).into_keys().filter(|path| !is_stream(path)).collect();
            folders = folders_of_deps(&plan, &cells);
            for (folder, endings) in plan.external_folders(&cells) {
                // One without such a file is told by the run.
                known.extend(SourceFiles(folder.clone()).list(endings).unwrap_or_default());
                with_those_in_it(folder, &mut folders);
            }
        }
        files.extend(known.into_iter().map(|path| (path.clone(), stat(&path))));
        files.insert(file.to_owned(), first);
        let folders = folders.into_iter().map(|folder| (folder.clone(), changed_at(&folder))).collect();
        Watched { files, folders }
    }

    /// Returns true if a file is not what it was.
    fn files_changed(&self) -> bool {
        self.files.iter().any(|(path, was)| stat(path) != *was)
    }

    /// The same, or a folder has other files than it had.
    fn may_have_changed(&self) -> bool {
        self.files_changed() || self.folders.iter().any(|(folder, was)| changed_at(folder) != *was)
    }

    /// The files in which this differs from what was watched before.
    fn differs_from(&self, before: &Watched) -> Vec<PathBuf> {
        let paths: BTreeSet<&PathBuf> = self.files.keys().chain(before.files.keys()).collect();
        paths.into_iter().filter(|path| self.files.get(*path) != before.files.get(*path)).cloned().collect()
    }
}

/// The cells that a run of these words does.
fn wanted(plan: &Plan, words: &[String]) -> Vec<usize> {
    let named: Vec<usize> = words.iter().flat_map(|word| plan.select(word).unwrap_or_default()).collect();
    if named.is_empty() { (0..plan.cells.len()).collect() } else { plan.ancestors(&named) }
}

/// The folders of the files that commands rest on, and those above them in the pipeline's folder.
fn folders_of_deps(plan: &Plan, cells: &[usize]) -> BTreeSet<PathBuf> {
    let commands = cells.iter().filter_map(|cell| match &plan.cells[*cell].body {
        Body::Command(command) => Some(command),
        Body::Stage(_) => None,
    });
    let files = commands.flat_map(|command| &command.deps).map(|dependency| dependency.path.as_path());
    files
        .flat_map(|file| file.ancestors().skip(1).take_while(|folder| folder.starts_with(&plan.folder)))
        .map(Path::to_owned)
        .collect()
}

/// The folder and those in it, as far as they are read: names that begin with a dot and links are not.
fn with_those_in_it(folder: PathBuf, found: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !is_hidden && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            with_those_in_it(entry.path(), found);
        }
    }
    found.insert(folder);
}

fn stat(path: &Path) -> Option<Stat> {
    Stat::of(path).ok()
}

fn changed_at(folder: &Path) -> Option<std::time::SystemTime> {
    std::fs::metadata(folder).and_then(|metadata| metadata.modified()).ok()
}
