//! Applies what is known of each task: it has ended, or is submitted again.

use cwm_contract::Label;

use super::batch::Batch;
use super::task::{JobUpdate, TaskSpec};
use super::task_outcome::TaskOutcome;
use super::watch::{MAX_LISTED, Watcher, read_output};
use cwm_action::{ActionFailure, ActionFailureKind};
use cwm_core::{Key, list_some};

impl Watcher<'_> {
    /// Reports the tasks that ended, and queues those that are to be submitted again.
    pub fn apply_outcomes(&mut self) {
        let mut unfinished = Vec::with_capacity(self.tasks.len());
        let mut resubmitted = Vec::new();
        for mut task in std::mem::take(&mut self.tasks) {
            // It may have reported its end after its events were read and before the queue was asked.
            for line in task.drain_messages() {
                (self.send)(JobUpdate::Message(task.spec.cell, line));
            }
            let Some(watched) = self.batches.get(&task.batch) else { continue };
            let spec = &task.spec;
            let recorded = |reported| self.is_recorded(&spec.task.key, spec.task.force, &watched.batch, reported);
            let output = || read_output(&watched.batch.out(task.index));
            let outcome = task.outcome(watched.job.as_deref(), self.settings.visibility_timeout, recorded, output);
            let cell = spec.cell;
            let end = match &outcome {
                TaskOutcome::Wait => {
                    unfinished.push(task);
                    continue;
                }
                TaskOutcome::Succeeded => "done".to_owned(),
                TaskOutcome::Failed(failure) => failure.message.clone(),
                TaskOutcome::Resubmit { reason, .. } => reason.clone(),
            };
            watched.batch.note_end(task.index, &end);
            match outcome {
                TaskOutcome::Wait => {}
                TaskOutcome::Succeeded => (self.send)(JobUpdate::Ended(cell, Ok(()))),
                // It ended before this run began, or while another run watched it: this run has made no attempt yet.
                _ if task.is_unconfirmed() => self.waiting.push(TaskSpec { resubmissions: 0, ..task.spec }),
                TaskOutcome::Failed(failure) => (self.send)(JobUpdate::Ended(cell, Err(failure))),
                TaskOutcome::Resubmit { reason, counts } => {
                    let resubmissions = task.spec.resubmissions + u32::from(counts);
                    if resubmissions > self.settings.resubmit {
                        let failure = ActionFailure {
                            kind: ActionFailureKind::System,
                            message: format!("{reason}; it was submitted {resubmissions} times"),
                            hint: Some("`cwm run` submits it again; does the node log tell more?".to_owned()),
                        };
                        (self.send)(JobUpdate::Ended(cell, Err(failure)));
                    } else {
                        resubmitted.push((task.spec.task.label.clone(), reason));
                        self.waiting.push(TaskSpec { resubmissions, ..task.spec });
                    }
                }
            }
        }
        self.tasks = unfinished;
        resubmission_warnings(&resubmitted).into_iter().for_each(|words| (self.send)(JobUpdate::Warning(words)));
        let tasks = &self.tasks;
        for (_, watched) in self.batches.extract_if(|id, _| !tasks.iter().any(|task| task.batch == *id)) {
            watched.batch.close_if_over();
        }
    }

    /// True if the store has the result of a task. A forced task needs one that is newer than its batch.
    fn is_recorded(&self, key: &Key, force: bool, batch: &Batch, reported: bool) -> bool {
        let is_isolated = batch.file.remote_store.is_some();
        if is_isolated || (force && !reported) {
            let records = self.store.actions(key).unwrap_or_default();
            let is_new = records.iter().any(|record| record.circumstances.started >= batch.file.made);
            // A job that does not fill this store leaves the files with a remote.
            if force || is_new || reported {
                return if reported { !records.is_empty() } else { is_new };
            }
        }
        self.store.available(key, None, &self.files).is_ok_and(|record| record.is_some())
    }
}

/// Warnings that these cells are submitted again, and why. Of many, the first few are named.
fn resubmission_warnings(cells: &[(Label, String)]) -> Vec<String> {
    let count = if cells.len() > MAX_LISTED { MAX_LISTED - 1 } else { cells.len() };
    let mut words: Vec<String> =
        cells[..count].iter().map(|(label, why)| format!("{label}: {why}; it is submitted again")).collect();
    let others = &cells[count..];
    if !others.is_empty() {
        let named = list_some(others.iter().map(|(label, _)| label), MAX_LISTED);
        words.push(format!("{} more cells are submitted again, for reasons such as these: {named}", others.len()));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_few_of_a_sweep_are_named() {
        let cells = |count: u32| -> Vec<(Label, String)> {
            (0..count).map(|n| (format!("part[k={n}]").parse().unwrap(), format!("nothing is left of 1_{n}"))).collect()
        };
        assert_eq!(resubmission_warnings(&cells(1)), ["part[k=0]: nothing is left of 1_0; it is submitted again"]);
        assert_eq!(resubmission_warnings(&cells(8)).len(), 8);
        let warnings = resubmission_warnings(&cells(100));
        assert!(warnings.len() == 8 && warnings[6].starts_with("part[k=6]: "), "{warnings:?}");
        assert!(
            warnings[7].starts_with("93 more cells are submitted again") && warnings[7].ends_with("and 85 more"),
            "{warnings:?}"
        );
        assert!(resubmission_warnings(&[]).is_empty());
    }
}
