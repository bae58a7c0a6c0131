//! A pipeline opened with its store and lock files, for all commands.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::output::{print_note, print_warnings};
use cwm_contract::Label;
use cwm_core::{Error, list_some, shell_quote};
use cwm_engine::{CacheStatus, CellPrediction, EventSinks, KeyStatus, RunContext, output_of};
use cwm_gc::tags::Tag;
use cwm_pipeline::plan::{self, Plan};
use cwm_project::accepted::AcceptedChanges;
use cwm_project::config::{ExecutorKind, ProjectConfig, StoreAccess};
use cwm_project::fold_problems;
use cwm_project::lock_file::{LockFile, SetValues};
use cwm_project::pins::Pins;
use cwm_project::runs;
use cwm_store::{ActionRecord, Defect, DigestCache, EvictionReason, MissingContent, OutputRecord, Store, StoreLock};

use crate::cli::PipelineArguments;
use crate::hints::{self, set_options};
use crate::locate::{pipeline_file, store_folder};

/// A pipeline with its store and lock files, as commands use them.
pub struct Workspace {
    /// The plan of the pipeline file.
    pub plan: Plan,
    /// The settings of `cwm.toml`.
    pub config: ProjectConfig,
    /// The store of results.
    pub store: Store,
    /// The digests of external files.
    pub digests: DigestCache,
    /// The lock file of the run with these values of `--set`, else that of the nearest run.
    pub lock_file: LockFile,
    /// The pinned downloads.
    pub pins: Pins,
    /// The accepted changes of code.
    pub accepted_changes: AcceptedChanges,
    skipped_records: Option<SkippedRecordsWarning>,
}

impl Workspace {
    /// Loads the pipeline and opens its store.
    ///
    /// # Errors
    /// The pipeline is not found or wrong; the store or the lock file cannot be read.
    pub fn open(store: Option<&Path>, arguments: &PipelineArguments) -> Result<Self, Error> {
        let workspace = Workspace::load(store, arguments)?;
        workspace.warn_about_lock_files();
        Ok(workspace)
    }

    /// Opens the workspace like [`Workspace::open`], without the warnings about its lock files.
    ///
    /// # Errors
    /// As [`Workspace::open`].
    pub fn load(store: Option<&Path>, arguments: &PipelineArguments) -> Result<Self, Error> {
        hints::record_options(store, arguments.file.as_deref(), &arguments.sets);
        let file = pipeline_file(arguments.file.as_deref())?;
        let mut plan = plan::load(&file, &arguments.sets, &crate::registry::built_in())?;
        if plan.folder.to_str().is_none() {
            let message = format!("cannot use the folder {}: its path is not UTF-8", plan.folder.display());
            return Err(Error::usage(message).hint("move the pipeline to another folder"));
        }
        plan.name_descriptors();
        let pins = Pins::for_pipeline(&plan.file)?;
        let config = ProjectConfig::of(&file, &cwm_remote::Kinds)?;
        let store = Store::at(&store_folder(store, &config, &plan.folder))?.with_record_cache();
        let digests = DigestCache::of_store(&store);
        let lock_file = runs::nearest(&plan.file, &plan.sets)?;
        let accepted_changes = AcceptedChanges::for_pipeline(&plan.file)?;
        Ok(Workspace { plan, config, store, digests, lock_file, pins, accepted_changes, skipped_records: None })
    }

    /// Prints warnings about damaged lines of the lock file and of the accepted changes.
    pub fn warn_about_lock_files(&self) {
        print_warnings(fold_problems(self.lock_file.problems()));
        print_warnings(fold_problems(self.accepted_changes.problems()));
    }

    /// Opens a workspace for a command that only reads: damaged records are skipped with a warning.
    ///
    /// # Errors
    /// As [`Workspace::open`].
    pub fn open_skipping_damaged(store: Option<&Path>, arguments: &PipelineArguments) -> Result<Self, Error> {
        let mut workspace = Workspace::open(store, arguments)?;
        workspace.skip_damaged_records();
        Ok(workspace)
    }

    /// Makes the store skip damaged records, with a warning at the end.
    pub fn skip_damaged_records(&mut self) {
        let (store, skipped_records) = SkippedRecordsWarning::watch(self.store.clone());
        (self.store, self.skipped_records) = (store, Some(skipped_records));
    }

    /// Returns true if the lock file is that of the run with exactly these values of `--set`.
    pub fn has_own_lock(&self) -> bool {
        self.lock_file.exists() && self.lock_file.path() == runs::lock_path(&self.plan.file, &self.plan.sets)
    }

    /// Prints which run the results are compared with, if it is not the one with exactly these values of `--set`.
    pub fn print_compared_run(&self) {
        if self.lock_file.exists() && !self.has_own_lock() {
            let compared = self.lock_file.run().map(|run| run.set).unwrap_or_default();
            let (own, compared) = (with_sets(&self.plan.sets), with_sets(&compared));
            print_note(&format!("note: there was no run {own} yet; the comparison is with the one {compared}"));
        }
    }

    /// Returns the labels of all cells.
    pub fn labels(&self) -> Vec<Label> {
        self.plan.cells.iter().map(|cell| cell.label.clone()).collect()
    }

    /// Returns what a run works on.
    pub fn context(&self) -> RunContext<'_> {
        let Workspace { plan, store, digests, lock_file, pins, accepted_changes, .. } = self;
        RunContext { plan, store, digests, lock_file, pins, accepted_changes }
    }

    /// Looks up the result of every cell.
    pub fn cache_status(&self) -> Result<CacheStatus, Error> {
        let cache_status = CacheStatus::query(self.context())?;
        self.digests.save();
        self.store.save_record_cache();
        Ok(cache_status)
    }

    /// Takes the shared lock of the store, so that `gc` keeps what is not in the lock file yet. `sinks` show which process
    /// it waits for.
    pub fn lock_shared(&self, sinks: &mut EventSinks) -> Result<StoreLock, Error> {
        Ok(self.store.lock_shared(|owner| sinks.warn(format!("waiting for the store: {owner}")))?)
    }

    /// Predicts what a run of the whole pipeline would find missing and rebuild.
    pub fn predictions(&self, cache_status: &CacheStatus) -> Result<Vec<CellPrediction>, Error> {
        let all: Vec<usize> = (0..self.plan.cells.len()).collect();
        let fetches = self.config.executor == ExecutorKind::Slurm && self.config.slurm.store == StoreAccess::Remote;
        cwm_engine::predict(self.context(), cache_status, &all, &BTreeSet::new(), fetches)
    }

    /// Returns the one cell that `text` names.
    pub fn cell(&self, text: &str) -> Result<usize, Error> {
        self.single_cell(text, &self.plan.select(text)?, "")
    }

    /// Returns the record of a cell, which `text` names.
    ///
    /// # Errors
    /// There is no result.
    pub fn result<'s>(
        &self,
        text: &str,
        cache_status: &'s CacheStatus,
        index: usize,
    ) -> Result<&'s ActionRecord, Error> {
        let KeyStatus::Cached(record) = &cache_status.states[index] else {
            for cell in self.plan.ancestors(&[index]) {
                if let KeyStatus::Unreadable(error) = &cache_status.states[cell] {
                    let problem = Error::usage(format!("cannot determine the result of {text}: {}", error.message));
                    let problem = error.hints.iter().fold(problem, Error::hint);
                    return Err(problem.hint("put the file back, or change its path in the pipeline"));
                }
            }
            return Err(self.no_result(cache_status, index));
        };
        Ok(record)
    }

    /// Returns an output of a cell, which `text` names, and its path in the store.
    ///
    /// # Errors
    /// As [`Workspace::result`] and [`Workspace::complete_output`].
    pub fn stored_output(&self, text: &str, index: usize, output_name: &str) -> Result<(OutputRecord, PathBuf), Error> {
        let cache_status = self.cache_status()?;
        let (output, path) = self.complete_output(self.result(text, &cache_status, index)?, output_name)?;
        Ok((output.clone(), path))
    }

    /// Returns the error for a cell without a result. It names an attempt that failed, an older result, and the run with other
    /// values of `--set` that has one, if there are any, with commands for them.
    pub fn no_result(&self, cache_status: &CacheStatus, index: usize) -> Error {
        let label = &self.plan.cells[index].label;
        let quoted = shell_quote(&label.to_string());
        let has_failed = |cell: usize| matches!(self.last_log(cache_status, cell), Ok(Some((_, "failed"))));
        let mut unfinished =
            self.plan.ancestors(&[index]).into_iter().filter(|cell| cache_status.record(*cell).is_none());
        let failed = unfinished.find(|cell| has_failed(*cell));
        // Without a lock file of its own, the run is compared with another one.
        let is_older = self.has_own_lock() && matches!(self.context().previous_record(label), Ok(Some(_)));
        let reason = match failed {
            Some(cell) if cell == index => "; its last attempt failed or was stopped".to_owned(),
            Some(cell) => format!("; {}, on which it depends, failed or was stopped", self.plan.cells[cell].label),
            None if is_older => "; the recorded one is of an earlier state of the pipeline".to_owned(),
            None => String::new(),
        };
        let mut error = Error::usage(format!("{label} has no result yet{reason}"));
        if let Some(cell) = failed {
            let failed = shell_quote(&self.plan.cells[cell].label.to_string());
            error = error.hint(format!("`cwm log {failed}` prints the log of that attempt"));
        }
        let why = if is_older { "lists what changed" } else { "explains what it waits for" };
        let error = error.hint(format!("`cwm run {quoted}` computes it; `cwm why {quoted}` {why}"));
        let mut others = runs::all(&self.plan.file).unwrap_or_default();
        others.retain(|lock| {
            lock.path() != runs::lock_path(&self.plan.file, &self.plan.sets) && lock.get(label).is_some()
        });
        // The pipeline may have been edited since, so the result is looked up.
        let find = |sets: &SetValues| {
            let plan = plan::load(&self.plan.file, &Vec::from_iter(sets.clone()), &crate::registry::built_in()).ok()?;
            let found = CacheStatus::query(RunContext { plan: &plan, ..self.context() }).ok()?;
            found.record(plan.cells.iter().position(|cell| cell.label == *label)?).map(|record| record.key)
        };
        // The last run first.
        let mut runs = others.into_iter().rev().map(|lock| lock.run().map(|run| run.set).unwrap_or_default());
        match runs.find(|sets| find(sets).is_some()) {
            Some(sets) if sets.is_empty() => error.hint("the run without `--set` has one: leave out `--set`"),
            Some(sets) => {
                let command = hints::invocation(Some("--set"), &set_options(&sets));
                error.hint(format!("the run {} has one: `{command}`", with_sets(&sets)))
            }
            None => error,
        }
    }

    /// Returns the log of the last run of a cell, and the state of that run: `running`, `failed` or `done`.
    ///
    /// # Errors
    /// The lock of the cell's key cannot be read.
    pub fn last_log(&self, cache_status: &CacheStatus, index: usize) -> Result<Option<(PathBuf, &'static str)>, Error> {
        let Some(key) = cache_status.key(index) else { return Ok(None) };
        let log = self.store.work_folder(&key).log();
        if log.exists() {
            let is_running = self.store.lock_owner(&key)?.is_some();
            return Ok(Some((log, if is_running { "running" } else { "failed" })));
        }
        let recorded = cache_status.record(index).and_then(|record| record.log);
        let recorded = recorded.map(|digest| self.store.object_path(&digest)).filter(|path| path.exists());
        Ok(recorded.map(|path| (path, "done")))
    }

    /// Returns an output whose files are in the store, unchanged, and its path there.
    ///
    /// # Errors
    /// There is no such output, or some of its files are missing or damaged.
    pub fn complete_output<'r>(
        &self,
        record: &'r ActionRecord,
        output_name: &str,
    ) -> Result<(&'r OutputRecord, PathBuf), Error> {
        let output = output_of(record, output_name)?;
        let mut missing = self.store.missing_or_damaged(record, &self.digests)?;
        missing.retain(|missing| missing.output == output_name);
        if missing.is_empty() {
            return Ok((output, self.store.path_of(output, &self.digests)?));
        }
        let problem = format!("the files of {}.{output_name} {}", record.label, MissingContent::describe(&missing));
        // What was evicted is no damage of the store.
        let is_damage = record.evicted.is_none() || missing.iter().any(|missing| missing.damage.is_some());
        let error = if is_damage { Error::store(problem) } else { Error::usage(problem) };
        Err(error.hint(rebuild_hint(record)))
    }

    /// Returns the only one of the cells that `text` names; `suffix` is its end that names an output.
    fn single_cell(&self, text: &str, cells: &[usize], suffix: &str) -> Result<usize, Error> {
        if let [only] = cells {
            return Ok(*only);
        }
        let name = |index: &usize| shell_quote(&format!("{}{suffix}", self.plan.cells[*index].label));
        let names = list_some(cells.iter().map(name), 8);
        Err(Error::usage(format!("`{text}` has {} cells", cells.len())).hint(format!("name one of them: {names}")))
    }

    /// Returns the cell and the output that `text` names: `stage`, `stage.output`, `stage[axis=value].output`.
    pub fn output(&self, text: &str) -> Result<(usize, String), Error> {
        self.single_output(text, self.plan.select_outputs(text, None)?)
    }

    /// Returns the only one of the outputs that `text` names.
    pub fn single_output(&self, text: &str, outputs: Vec<(usize, String)>) -> Result<(usize, String), Error> {
        let suffix = outputs.first().map(|(_, name)| format!(".{name}")).filter(|end| text.ends_with(end.as_str()));
        let cells: Vec<usize> = outputs.iter().map(|(index, _)| *index).collect();
        self.single_cell(text, &cells, &suffix.unwrap_or_default())?;
        outputs.into_iter().next().ok_or_else(|| Error::usage(format!("`{text}` has no output")))
    }
}

/// Returns the name for people of the run with these values.
fn with_sets(sets: &SetValues) -> String {
    match &set_options(sets)[..] {
        "" => "without `--set`".to_owned(),
        options => format!("with `{}`", options.trim_start()),
    }
}

/// Prints a warning for each damaged tag.
pub fn warn_about_tags(tags: &[Tag]) {
    print_warnings(tags.iter().filter_map(|tag| tag.verify_intact().err()));
}

/// Returns how to get the missing files of a result: a run of the whole pipeline rebuilds them only if something reads them.
fn rebuild_hint(record: &ActionRecord) -> String {
    let label = shell_quote(&record.label.to_string());
    let is_remote = record.evicted == Some(EvictionReason::NotPulled);
    let fetch = if is_remote { format!("`cwm pull {label}` fetches them, ") } else { String::new() };
    format!("{fetch}`cwm run {label}` computes them again")
}

/// Warns about the damaged records that a store skipped, when it is dropped.
pub struct SkippedRecordsWarning(Store);

impl SkippedRecordsWarning {
    /// Makes `store` skip damaged records.
    pub fn watch(store: Store) -> (Store, SkippedRecordsWarning) {
        let store = store.skipping_damaged_records();
        (store.clone(), SkippedRecordsWarning(store))
    }

    /// Describes a record that was skipped.
    pub fn message(finding: &Defect) -> String {
        format!("{finding}; it is skipped, and `cwm run` or `cwm store verify` moves it to quarantine")
    }
}

impl Drop for SkippedRecordsWarning {
    fn drop(&mut self) {
        for finding in self.0.take_damaged_records() {
            print_note(&format!("warning: {}", SkippedRecordsWarning::message(&finding)));
        }
    }
}
