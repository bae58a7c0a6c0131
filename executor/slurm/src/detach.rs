//! A run that is a job itself: for those who log out.

use std::path::Path;

use super::batch::{self, Batch, BatchWork};
use super::queue::Queue;
use super::request::DETACHED_OUTPUT;
use super::settings::JobSettings;
use cwm_core::Error;
use cwm_store::Store;

/// Submits a job of one core that runs this program with these arguments in this folder. If one already does so for this
/// `pipeline` by the same `command`, nothing is submitted. A command with other options is another run, such as one with other
/// values. Returns a sentence with the job and the file of its output.
///
/// # Errors
/// The store cannot be written, or Slurm does not take the job.
pub fn detach(
    store: &Store,
    settings: &JobSettings,
    pipeline: &Path,
    folder: &Path,
    arguments: &[String],
    command: &str,
) -> Result<String, Error> {
    let sentence = |job: &str, what: &str, batch: &Batch| {
        format!("job {job} {what}; it writes to {}", batch.folder.join(DETACHED_OUTPUT).display())
    };
    let lock = store.lock_batches()?;
    let runs: Vec<Batch> = batch::open(store).into_iter().filter(|batch| batch.file.run_of.is_some()).collect();
    if !runs.is_empty() {
        let queue = Queue::query()?;
        for run in runs {
            if !queue.is_alive(&run.file.id) {
                run.close_if_over();
            } else if run.file.run_of.as_deref() == Some(pipeline) && run.file.by == command {
                let job = queue.job(&run.file.id).unwrap_or_default();
                return Ok(sentence(job, "is already a run of this pipeline", &run));
            }
        }
    }
    let batch = Batch::create(store, settings, command, BatchWork::Run { pipeline, folder, arguments })?;
    batch.submit(&lock)?;
    let job = batch.job().ok_or_else(|| Error::system("`sbatch` accepted the job and printed no id"))?;
    Ok(sentence(&job, "runs it", &batch))
}
