//! A run that is a job itself: for those who log out.

use std::path::{Path, PathBuf};

use super::batch::{self, Batch};
use super::binary;
use super::program::Trouble;
use super::queue::{Phase, Queue};
use super::request;
use super::settings::Settings;
use super::submit::{Failed, sbatch};
use cwm_core::error::Error;
use cwm_store::Store;

/// A run that is a job.
#[derive(Debug)]
pub struct Detached {
    /// The job's id.
    pub job: String,
    /// What it prints.
    pub output: PathBuf,
    /// Whether it was submitted before, and still lives.
    pub was_there: bool,
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
) -> Result<Detached, Error> {
    store.create()?;
    let lock = store.lock_batches()?;
    let runs: Vec<Batch> = batch::open(store).into_iter().filter(|batch| batch.file.run_of.is_some()).collect();
    if !runs.is_empty() {
        let queue = Queue::ask().map_err(|trouble| cannot(&trouble))?;
        for run in runs {
            let entry = queue.single.get(&run.file.id);
            let lives = entry.is_some_and(|entry| !matches!(entry.phase(), Phase::Over(_)));
            if !lives {
                run.close_if_over();
            } else if run.file.run_of.as_deref() == Some(pipeline) {
                let job = run.job().or_else(|| queue.job_of(&run.file.id).map(str::to_owned)).unwrap_or_default();
                return Ok(Detached { job, output: run.folder.join("run.out"), was_there: true });
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
        Failed::Slurm(trouble) => cannot(&trouble),
        Failed::Store(error) => error,
    })?;
    let job = batch.job().ok_or_else(|| Error::system("`sbatch` took the job and gave no id"))?;
    Ok(Detached { job, output: batch.folder.join("run.out"), was_there: false })
}

fn cannot(trouble: &Trouble) -> Error {
    let error = Error::system(format!("Slurm does not take the run as a job: {trouble}"));
    match trouble {
        Trouble::NotThere(_) => error.hint("run on a node from which jobs are submitted"),
        Trouble::Unreachable(_) => error.hint("run again when it answers: nothing is submitted twice"),
        Trouble::Full(_) | Trouble::Refused(_) => error.hint("look at [slurm] in cwm.toml"),
    }
}
