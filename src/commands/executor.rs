//! Who does the work of a run: this machine, or Slurm.

use crate::cli::{Executor, RunArguments};
use crate::commands::{Workspace, again, print};
use crate::error::Error;
use crate::exit_code::ExitCode;
use crate::site::{ExecutorKind, JobStore, Site};
use crate::slurm::{self, Settings};

/// How jobs are to be, if the cells of this run are done as jobs.
///
/// # Errors
/// An option has no meaning there.
pub fn cluster(arguments: &RunArguments, site: &Site) -> Result<Option<Settings>, Error> {
    let is_slurm = match arguments.executor {
        Some(chosen) => chosen == Executor::Slurm,
        None => site.executor == ExecutorKind::Slurm,
    };
    if !is_slurm {
        if arguments.detach {
            return Err(Error::usage("`--detach` leaves a run to a batch system")
                .hint("add `--executor slurm`, or `executor = \"slurm\"` to cwm.toml"));
        }
        return Ok(None);
    }
    if arguments.jobs.is_some() {
        return Err(Error::usage("`--jobs` counts cores of this machine, and the work is done by Slurm")
            .hint("`max_jobs` under [slurm] in cwm.toml limits the jobs in the queue"));
    }
    if site.slurm.store == JobStore::Remote {
        return Err(Error::usage(
            "`store = \"remote\"` under [slurm] in cwm.toml: jobs need a store that all nodes see",
        )
        .hint("put the store on a file system that they share (`store` in cwm.toml), and leave this out"));
    }
    Ok(Some(Settings::from(&site.slurm)))
}

/// `cwm run --detach`: the same run as a job.
///
/// # Errors
/// Slurm does not take it.
pub fn detach(workspace: &Workspace, settings: &Settings) -> Result<ExitCode, Error> {
    let folder = std::env::current_dir();
    let folder = folder.map_err(|error| Error::system(format!("cannot tell the current folder: {error}")))?;
    // The program's own name aside. What the file says today, and not what it says when the job starts.
    let words = std::env::args().skip(1).filter(|word| word != "--detach");
    let words: Vec<String> = words.chain(["--executor=slurm".to_owned()]).collect();
    let pipeline = std::fs::canonicalize(&workspace.plan.file).unwrap_or_else(|_| workspace.plan.file.clone());
    let run = slurm::detach(&workspace.store, settings, &pipeline, &folder, &words, &again::typed())?;
    let what = if run.was_there { "is already a run of this pipeline" } else { "runs it" };
    print(&format!("job {} {what}; it writes to {}", run.job, run.output.display()))?;
    Ok(ExitCode::OK)
}
