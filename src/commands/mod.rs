//! The commands, one file each, and what they share: finding the pipeline and the store, and telling errors.

mod accept;
mod again;
mod completions;
mod contents;
mod dag;
mod devices;
mod diff;
mod dry_run;
mod du;
mod elsewhere;
mod executor;
mod expand;
mod export;
mod gc;
mod import;
mod init;
mod log;
mod ls;
mod man;
mod output;
mod parity;
mod passed_over;
mod path;
mod pin;
mod post_run;
pub(crate) mod refused;
mod remote;
mod run;
mod schema;
mod show;
mod sql;
mod status;
mod tag;
mod take;
mod tensorboard;
mod track;
mod transfer;
mod typed;
mod verify;
mod watch;
mod why;

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

pub(crate) use cwm_core::text::shell_quote;
use passed_over::PassedOver;

use crate::cli::{Cli, Command, PipelineArguments};
use cwm_core::digest::Key;
use cwm_core::error::Error;
use cwm_core::exit_code::ExitCode;
use cwm_core::text::{list_some, visible_lines};
use cwm_engine::{CellState, Known, RunPrediction, Survey};
use cwm_gc::tags::Tag;
use cwm_pipeline::plan::{self, Plan};
use cwm_project::accepted::Accepted;
use cwm_project::lock_file::LockFile;
use cwm_project::pins::Pins;
use cwm_project::site::{ExecutorKind, JobStore, Site};
use cwm_store::outside::Files;
use cwm_store::{ActionRecord, Dropped, Missing, Store};

/// Runs a command and says what went wrong, on standard error; also on standard output if that is to hold JSON.
pub fn main(cli: Cli, as_json: bool) -> ExitCode {
    let goes_on = match &cli.command {
        Command::Run(_) | Command::Watch(_) | Command::Exec(_) | Command::Push(_) | Command::Pull(_) => true,
        Command::Pin(arguments) => arguments.update,
        Command::Export(arguments) => arguments.is_stream(),
        _ => false,
    };
    if !goes_on {
        // A closed pipe (`cwm status | head`) ends the program quietly, as it does others; a run goes on.
        // SAFETY: sets a signal's disposition before any other thread exists.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    }
    let is_run = matches!(cli.command, Command::Run(_) | Command::Watch(_));
    match too_large_files_are_errors().and_then(|()| dispatch(cli)) {
        Ok(code) => match output::fault() {
            // What went wrong besides is worth more.
            Some(error) => {
                tell(&error);
                if code == ExitCode::OK { error.exit_code() } else { code }
            }
            None => code,
        },
        Err(error) => {
            tell(&error);
            if as_json {
                refused::print(&error, is_run);
            }
            error.exit_code()
        }
    }
}

/// A file that would grow beyond `ulimit -f` is then told in words, as a full disk is. What this program starts has the
/// system's own way again, as a handler of a signal, unlike its being ignored, is not handed on.
fn too_large_files_are_errors() -> Result<(), Error> {
    let nobody_looks = std::sync::Arc::default();
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, nobody_looks)
        .map(drop)
        .map_err(|error| Error::system(format!("cannot watch for signal SIGXFSZ: {error}")))
}

fn dispatch(cli: Cli) -> Result<ExitCode, Error> {
    let store = cli.store.as_deref();
    match cli.command {
        Command::Run(arguments) => run::run(store, arguments),
        Command::Watch(arguments) => watch::run(store, arguments),
        Command::Status(arguments) => status::run(store, arguments),
        Command::Why(arguments) => why::run(store, arguments),
        Command::Accept(arguments) => accept::run(store, arguments),
        Command::Diff(arguments) => diff::run(store, &arguments),
        Command::Dag(arguments) => dag::run(&arguments),
        Command::Log(arguments) => log::run(store, &arguments),
        Command::Tensorboard(arguments) => tensorboard::run(store, &arguments),
        Command::Show(arguments) => show::run(store, &arguments),
        Command::Path(arguments) => path::run(store, &arguments),
        Command::Export(arguments) => export::run(store, &arguments),
        Command::Sql(arguments) => sql::run(store, &arguments),
        Command::Pin(arguments) => pin::run(store, &arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Track(arguments) => track::run(store, &arguments),
        Command::Remote(arguments) => remote::run(store, &arguments),
        Command::Push(arguments) => transfer::push::run(store, arguments),
        Command::Pull(arguments) => transfer::pull::run(store, arguments),
        Command::Verify(arguments) => verify::run(store, &arguments),
        Command::Ls(arguments) => ls::run(store, &arguments),
        Command::Take(arguments) => take::run(store, &arguments),
        Command::Tag(arguments) => tag::run(store, &arguments),
        Command::Du(arguments) => du::run(store, &arguments),
        Command::Gc(arguments) => gc::run(store, &arguments),
        Command::Devices(arguments) => devices::run(&arguments),
        Command::Parity(arguments) => parity::run(&arguments),
        Command::Init(arguments) => init::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => man::run(&arguments),
        Command::Exec(arguments) => {
            let root = store.ok_or_else(|| Error::usage("`cwm exec` needs `--store`"))?;
            let key: Key = arguments.key.parse().map_err(Error::usage)?;
            let registry = crate::registry::built_in();
            match (&arguments.batch, arguments.task) {
                (Some(batch), Some(index)) => {
                    let task = cwm_slurm::task_entry(root, batch, index, &key)?;
                    cwm_action::exec(Some(&task.events), |lines, cancellation| match &task.remote_store {
                        None => cwm_action::perform(&registry, root, &key, &task.terms, lines, cancellation, None),
                        Some(config) => cwm_slurm::isolated::perform(
                            &registry,
                            root,
                            &key,
                            &task.terms,
                            lines,
                            cancellation,
                            config,
                        ),
                    })
                }
                _ => {
                    let terms = arguments.terms();
                    cwm_action::exec(None, |lines, cancellation| {
                        cwm_action::perform(&registry, root, &key, &terms, lines, cancellation, None)
                    })
                }
            }
        }
    }
}

/// Prints an error and its hints.
fn tell(error: &Error) {
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut err = std::io::stderr().lock();
    if let Some(diagnostics) = &error.diagnostics {
        let _ = writeln!(err, "{}", diagnostics.render(colour, width()));
    }
    if !error.message.is_empty() {
        let _ = writeln!(err, "error: {}", visible_lines(&error.message));
    }
    for hint in &error.hints {
        let _ = writeln!(err, "hint: {}", visible_lines(hint));
    }
}

/// Says what is odd in a lock file.
pub(crate) fn warn_of(lock: &LockFile) {
    for warning in lock.warnings() {
        eprintln!("warning: {}", visible_lines(&warning.to_string()));
    }
}

/// Says which tags are damaged.
pub(crate) fn warn_of_tags(tags: &[Tag]) {
    for error in tags.iter().filter_map(|tag| tag.must_be_sound().err()) {
        eprintln!("warning: {}", visible_lines(&error.to_string()));
    }
}

/// How to have the files that a recorded result lacks: a run that nothing needs them for lets them be.
fn remake(record: &ActionRecord) -> String {
    let label = shell_quote(&record.label.to_string());
    match record.dropped {
        Some(Dropped::NotPulled) => format!("`cwm pull {label}` fetches them, `cwm run {label}` makes them again"),
        _ => format!("`cwm run {label}` makes them again"),
    }
}

/// A pipeline with its store and lock file, as commands use them.
struct Workspace {
    plan: Plan,
    site: Site,
    store: Store,
    files: Files,
    locked: LockFile,
    pins: Pins,
    accepted: Accepted,
    passed_over: Option<PassedOver>,
}

impl Workspace {
    /// Loads the pipeline and opens its store.
    ///
    /// # Errors
    /// The pipeline is not found or wrong; the store or the lock file cannot be read.
    fn open(store: Option<&Path>, arguments: &PipelineArguments) -> Result<Self, Error> {
        let file = pipeline_file(arguments.file.as_deref())?;
        let mut plan = plan::load(&file, &arguments.sets, &crate::registry::built_in())?;
        plan.name_descriptors();
        let pins = Pins::beside(&plan.file)?.asked_with(typed::options(store, arguments));
        let site = Site::of(&file, crate::adapters::REMOTE_KINDS)?;
        let store = Store::at(&store_root(store, &site, &plan.folder))?.remembering();
        let passed_over = None;
        let files = Files::of_store(&store);
        let locked = LockFile::read(&LockFile::path_for(&plan.file))?;
        warn_of(&locked);
        let accepted = Accepted::beside(&plan.file)?;
        for warning in accepted.warnings() {
            eprintln!("warning: {warning}");
        }
        Ok(Workspace { plan, site, store, files, locked, pins, accepted, passed_over })
    }

    /// As [`Workspace::open`], for a command that only tells what there is: damaged records are passed over, and told.
    ///
    /// # Errors
    /// As [`Workspace::open`].
    fn open_to_read(store: Option<&Path>, arguments: &PipelineArguments) -> Result<Self, Error> {
        let mut workspace = Workspace::open(store, arguments)?;
        workspace.pass_over_damaged_records();
        Ok(workspace)
    }

    /// From here on damaged records are passed over, and told at the end.
    fn pass_over_damaged_records(&mut self) {
        let (store, passed_over) = PassedOver::by(self.store.clone());
        (self.store, self.passed_over) = (store, Some(passed_over));
    }

    /// What is known beside the pipeline.
    fn known(&self) -> Known<'_> {
        Known { locked: &self.locked, pins: &self.pins, accepted: &self.accepted }
    }

    /// What is known of every cell.
    fn survey(&mut self) -> Result<Survey, Error> {
        let survey = Survey::take(&self.plan, &self.store, &self.files, self.known())?;
        self.files.save_if_possible();
        self.store.remember();
        Ok(survey)
    }

    /// What a run of the whole pipeline would find missing, and make again.
    fn prediction(&self, survey: &Survey) -> Result<RunPrediction, Error> {
        let all: Vec<usize> = (0..self.plan.cells.len()).collect();
        let fetches = self.site.executor == ExecutorKind::Slurm && self.site.slurm.store == JobStore::Remote;
        RunPrediction::of(&self.plan, &self.store, &self.files, survey, &all, &BTreeSet::new(), fetches)
    }

    /// Looks once more at those of `cells` that had no result when `survey` was taken.
    fn survey_again(&mut self, survey: &mut Survey, cells: &[usize]) -> Result<(), Error> {
        survey.again(cells, &self.plan, &self.store, &self.files, self.known())?;
        self.files.save_if_possible();
        Ok(())
    }

    /// The one cell that `text` names.
    fn cell(&self, text: &str) -> Result<usize, Error> {
        let cells = self.plan.select(text)?;
        self.only_one(text, cells.into_iter())
    }

    /// The record of a cell whose result is there, files and all.
    ///
    /// # Errors
    /// It is not made yet, or its files are gone.
    fn made<'s>(&self, text: &str, survey: &'s Survey, index: usize) -> Result<&'s ActionRecord, Error> {
        let CellState::Cached(record) = &survey.states[index] else {
            for cell in self.plan.ancestors(&[index]) {
                if let CellState::Unreadable(error) = &survey.states[cell] {
                    let hints = Some("put back what cannot be read, or name where it is now".to_owned());
                    let hints = error.hints.iter().cloned().chain(hints).collect();
                    let message = format!("what result {text} has cannot be told: {}", error.message);
                    return Err(Error { hints, ..Error::usage(message) });
                }
            }
            return Err(Error::usage(format!("{text} is not made yet")).hint("`cwm run` makes it"));
        };
        let missing = self.store.unusable(record, &self.files)?;
        if !missing.is_empty() {
            let words = format!("files of {text} {}", Missing::in_words(&missing));
            return Err(Error::store(words).hint(remake(record)));
        }
        Ok(record)
    }

    /// An output's files are there, and are what they were when they were stored.
    fn must_be_whole(&self, record: &ActionRecord, port: &str) -> Result<(), Error> {
        let mut missing = self.store.unusable(record, &self.files)?;
        missing.retain(|missing| missing.output == port);
        if missing.is_empty() {
            return Ok(());
        }
        let words = format!("the files of {}.{port} {}", record.label, Missing::in_words(&missing));
        Err(Error::store(words).hint(remake(record)))
    }

    fn only_one(&self, text: &str, cells: impl Iterator<Item = usize> + Clone) -> Result<usize, Error> {
        if let (Some(only), None) = (cells.clone().next(), cells.clone().nth(1)) {
            return Ok(only);
        }
        let count = cells.clone().count();
        let labels = list_some(cells.map(|index| format!("'{}'", self.plan.cells[index].label)), 8);
        Err(Error::usage(format!("`{text}` has {count} cells; name one of them: {labels}")))
    }

    /// A cell and one of its outputs: `stage`, `stage.port`, `stage[axis=value].port`.
    fn output(&self, text: &str) -> Result<(usize, String), Error> {
        self.only_output(text, self.plan.select_outputs(text)?)
    }

    fn only_output(&self, text: &str, outputs: Vec<(usize, String)>) -> Result<(usize, String), Error> {
        self.only_one(text, outputs.iter().map(|(index, _)| *index))?;
        outputs.into_iter().next().ok_or_else(|| Error::usage(format!("`{text}` has no output")))
    }
}

/// What a build without remotes says of them.
/// The store of the command line, else that of the site, else the one beside the pipeline, which is not read.
///
/// # Errors
/// There is no pipeline, or the store is of a newer format.
pub(crate) fn store_of(store: Option<&Path>, file: Option<&Path>) -> Result<Store, Error> {
    if let Some(root) = store {
        return Ok(Store::at(root)?);
    }
    let file = pipeline_file(file)?;
    Ok(Store::at(&store_root(
        None,
        &Site::of(&file, crate::adapters::REMOTE_KINDS)?,
        file.parent().unwrap_or(Path::new(".")),
    ))?)
}

/// As [`store_of`], of a store that must be there if it was named: a mistyped name must not pass for a store in which all is
/// well. One that is not named may not have been made yet, which is told.
pub(crate) fn existing_store_of(store: Option<&Path>, file: Option<&Path>) -> Result<Store, Error> {
    let opened = store_of(store, file)?;
    // One that lost its `format` is looked at all the same.
    if opened.exists() || opened.root().join("objects").is_dir() {
        return Ok(opened);
    }
    let words = format!("there is no store in {}", opened.root().display());
    match store {
        Some(_) => Err(Error::store(words).hint("`--store` or CWM_STORE names it; `cwm run` would make one there")),
        None => {
            eprintln!("note: {}", visible_lines(&format!("{words} yet; `cwm run` makes it")));
            Ok(opened)
        }
    }
}

/// The store's folder: that of the command line, else of the site, else the one beside the pipeline in `folder`.
fn store_root(given: Option<&Path>, site: &Site, folder: &Path) -> PathBuf {
    given.or(site.store.as_deref()).map_or_else(|| folder.join("artifacts"), Path::to_owned)
}

/// The pipeline that is meant: the given one, else `pipeline.yaml` here or in a folder above.
pub(crate) fn pipeline_file(given: Option<&Path>) -> Result<PathBuf, Error> {
    if let Some(given) = given {
        let shown = given.display();
        let wrong = match std::fs::metadata(given) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => format!("there is no pipeline file {shown}"),
            Ok(found) if found.is_dir() => format!("{shown} is a folder, and a pipeline is a file"),
            // Whatever else is wrong with it is told by whoever reads it.
            _ => return Ok(given.to_owned()),
        };
        return Err(Error::usage(wrong)
            .hint("name it: `cwm run FILE.yaml`; without a name it is pipeline.yaml here or in a folder above"));
    }
    let here =
        std::env::current_dir().map_err(|error| Error::system(format!("cannot tell the current folder: {error}")))?;
    here.ancestors().map(|folder| folder.join("pipeline.yaml")).find(|file| file.is_file()).ok_or_else(|| {
        Error::usage("there is no pipeline.yaml here or in a folder above").hint("name one with `-f FILE`")
    })
}

/// Columns of the terminal that errors are shown on; a customary width elsewhere.
fn width() -> usize {
    terminal_size::terminal_size_of(std::io::stderr()).map_or(120, |(width, _)| width.0.into())
}

/// Who works on models by hand.
fn model_tools() -> Result<&'static dyn cwm_contract::ModelTools, Error> {
    crate::registry::model_tools().ok_or_else(|| {
        Error::usage("this build of cwm knows no models")
            .hint("build it with the cargo feature `model-tools`, which is on by default")
    })
}

/// Prints data to standard output.
///
/// # Errors
/// It cannot be written, to a full disk for one; a closed pipe ends the program before that.
fn print(text: &str) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let written =
        out.write_all(text.as_bytes()).and_then(|()| out.write_all(end.as_bytes())).and_then(|()| out.flush());
    written.map_err(|error| Error::system(format!("cannot write to standard output: {error}")))
}

/// Prints what people read: what stands in records, wherever they are from, does nothing to a terminal.
///
/// # Errors
/// As [`print`].
fn print_words(text: &str) -> Result<(), Error> {
    print(&visible_lines(text))
}

/// Prints a value as JSON to standard output.
fn print_json(value: &impl serde::Serialize) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Error::internal(error.to_string()))?;
    print(&text)
}
