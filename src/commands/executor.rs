//! The executor of a run: this machine, or Slurm.

use crate::cli::{ExecutorChoice, RunArguments};
use crate::hints;
use crate::output::print;
use crate::workspace::Workspace;
use clap::ValueEnum;
use cwm_core::{Error, ExitCode};
use cwm_project::config::{ExecutorKind, ProjectConfig, Remote, StoreAccess};
use cwm_slurm::JobSettings;
use cwm_slurm::isolated::RemoteStoreConfig;

/// Returns the settings of Slurm if it executes the cells of this run.
///
/// # Errors
/// An option has no meaning with this executor.
pub fn cluster(arguments: &RunArguments, config: &ProjectConfig) -> Result<Option<JobSettings>, Error> {
    if let Some(value) = arguments.execution.executor.and_then(|executor| executor.to_possible_value()) {
        hints::record_executor(value.get_name());
    }
    let by_default = config.executor == ExecutorKind::Slurm;
    if !arguments.execution.executor.map_or(by_default, |chosen| chosen == ExecutorChoice::Slurm) {
        if arguments.execution.detach {
            return Err(Error::usage("`--detach` submits a run to a batch system")
                .hint("add `--executor slurm`, or `executor = \"slurm\"` to cwm.toml"));
        }
        return Ok(None);
    }
    if arguments.execution.jobs.is_some() {
        return Err(Error::usage("`--jobs` counts cores of this machine, and the work is done by Slurm")
            .hint("`max_jobs` under [slurm] in cwm.toml limits the jobs in the queue"));
    }
    let remote_store = match config.slurm.store {
        StoreAccess::Shared => None,
        StoreAccess::Remote => Some(remote_store(arguments, config)?),
    };
    Ok(Some(JobSettings { slurm: config.slurm.clone(), remote_store }))
}

/// Returns the remotes through which jobs that do not share the run's store exchange content.
///
/// # Errors
/// No remote can be written, or the run needs content in its own store.
fn remote_store(arguments: &RunArguments, config: &ProjectConfig) -> Result<RemoteStoreConfig, Error> {
    const WHERE: &str = "`store = \"remote\"` under [slurm] in cwm.toml";
    if arguments.check {
        return Err(Error::usage(format!(
            "`--check` compares within one store, and jobs do not share this one ({WHERE})"
        ))
        .hint("`--executor local` checks here; `cwm pull` of a stage and of what it reads fetches their files first"));
    }
    let only = arguments.sharing.remote.as_ref();
    let named = |name: &String| only.is_none_or(|wanted| wanted == name);
    let mut remotes: Vec<Remote> = config.remotes.iter().filter(|remote| named(&remote.name)).cloned().collect();
    let Some(to) = remotes.iter().position(|remote| !remote.read_only) else {
        let which = only.map_or_else(String::new, |name| format!(" `{name}`"));
        return Err(Error::usage(format!(
            "{WHERE}: jobs push their results, and there is no remote{which} to write to"
        ))
        .hint(
            "`cwm remote list` lists them, `cwm remote add NAME URL` adds one; or leave `store` out, if the nodes \
                 see the store",
        ));
    };
    // Jobs push to the first remote. The others keep their order.
    remotes[..=to].rotate_right(1);
    Ok(RemoteStoreConfig { remotes, scratch: config.slurm.scratch.clone() })
}

/// Runs `cwm run --detach`: submits the same run as a job.
///
/// # Errors
/// Slurm refuses the job.
pub fn detach(workspace: &Workspace, arguments: &RunArguments, settings: &JobSettings) -> Result<ExitCode, Error> {
    let folder = std::env::current_dir();
    let folder = folder.map_err(|error| Error::system(format!("cannot determine the current folder: {error}")))?;
    let mut words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--detach").collect();
    // Without the option, the executor is that of today's `cwm.toml`, even if the file changes before the job starts.
    let executor = arguments.execution.executor.is_none().then(|| "--executor=slurm".to_owned());
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words.splice(end..end, executor);
    let pipeline = std::fs::canonicalize(&workspace.plan.file).unwrap_or_else(|_| workspace.plan.file.clone());
    let command = hints::invocation(None, "");
    print(&cwm_slurm::detach(&workspace.store, settings, &pipeline, &folder, &words, &command)?)?;
    Ok(ExitCode::OK)
}
