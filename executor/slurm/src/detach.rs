//! A run that is a job itself: for those who log out.

use std::path::{Path, PathBuf};

use super::batch::{self, Batch};
use super::binary;
use super::queue::{JobPhase, Queue};
use super::request;
use super::settings::Settings;
use super::slurm_cli::SlurmCliError;
use super::submit::{SubmitError, sbatch};
use cwm_core::Error;
use cwm_store::Store;

/// A run that is a job.
#[derive(Debug)]
pub struct DetachedRun {
    /// The job's id.
    pub job: String,
    /// The file of its output.
    pub output: PathBuf,
    /// True if it was submitted before and has not ended.
    pub already_running: bool,
}

/// Submits a job of one core that runs this program with these `words` in this folder. If one already does so for this
/// `pipeline`, nothing is submitted.
///
/// # Errors
/// The store cannot be written, or Slurm does not take the job.
pub fn detach(
    store: &Store,
    settings: &Settings,
    pipeline: &Path,
    folder: &Path,
    words: &[String],
    command: &str,
) -> Result<DetachedRun, Error> {
    store.create()?;
    let lock = store.lock_batches()?;
    let runs: Vec<Batch> = batch::open(store).into_iter().filter(|batch| batch.file.run_of.is_some()).collect();
    if !runs.is_empty() {
        let queue = Queue::query().map_err(|error| not_submitted(&error))?;
        for run in runs {
            let entry = queue.single.get(&run.file.id);
            let is_alive = entry.is_some_and(|entry| !matches!(entry.phase(), JobPhase::Ended(_)));
            if !is_alive {
                run.close_if_over();
            } else if run.file.run_of.as_deref() == Some(pipeline) {
                let job = run.job().or_else(|| queue.job_of(&run.file.id).map(str::to_owned)).unwrap_or_default();
                return Ok(DetachedRun { job, output: run.folder.join("run.out"), already_running: true });
            }
        }
    }
    let digest = binary::keep(store)?;
    let mut file = batch::new(digest, Vec::new(), command, Some(pipeline.to_owned()));
    let place = batch::folder(store).join(&file.id);
    file.options = request::detached(settings, &file.id, &place, store.root());
    let script = request::detached_script(settings, folder, &binary::path(store, &digest), words);
    let batch = Batch::write(store, file, &script)?;
    sbatch(&batch, &lock).map_err(|failed| match failed {
        SubmitError::Slurm(error) => not_submitted(&error),
        SubmitError::Store(error) => error,
    })?;
    let job = batch.job().ok_or_else(|| Error::system("`sbatch` took the job and gave no id"))?;
    Ok(DetachedRun { job, output: batch.folder.join("run.out"), already_running: false })
}

fn not_submitted(cause: &SlurmCliError) -> Error {
    let error = Error::system(format!("Slurm does not take the run as a job: {cause}"));
    match cause {
        SlurmCliError::NotInstalled(_) => error.hint("run on a node from which jobs are submitted"),
        SlurmCliError::Unreachable(_) => error.hint("run again when it answers: nothing is submitted twice"),
        SlurmCliError::LimitReached(_) | SlurmCliError::Refused(_) => error.hint("look at [slurm] in cwm.toml"),
    }
}
