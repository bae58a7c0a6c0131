//! Cells whose jobs ended: what is told of them, and which are submitted again.

use cwm_contract::Label;

use super::batch::Batch;
use super::cluster::{NewTask, Told};
use super::judge::{Fault, Verdict};
use super::stuck::{self, FEW};
use super::watch::{Watcher, said_in};
use cwm_action::FailedKind;
use cwm_core::digest::Key;

impl Watcher<'_> {
    /// What follows from what was heard and seen.
    pub fn judge(&mut self) {
        let mut flying = Vec::with_capacity(self.flights.len());
        let mut again = Vec::new();
        for mut flight in std::mem::take(&mut self.flights) {
            // It may have told its end since it was listened to, and before the queue was asked.
            for line in flight.last_words() {
                (self.tell)(Told::Line(flight.task.cell, line));
            }
            let Some(watched) = self.batches.get(&flight.batch) else { continue };
            let job = watched.job.as_deref();
            let recorded = |told: bool| self.is_recorded(&flight.task.key, flight.task.force, &watched.batch, told);
            let said = || said_in(&watched.batch.out(flight.index));
            let verdict = flight.judge(job, self.settings.patience, recorded, said);
            let cell = flight.task.cell;
            let how = match &verdict {
                Verdict::Wait => {
                    flying.push(flight);
                    continue;
                }
                Verdict::Succeeded => "done".to_owned(),
                Verdict::Failed(fault) => fault.reason.clone(),
                Verdict::Again { why, .. } => why.clone(),
            };
            watched.batch.note_end(flight.index, &how);
            match verdict {
                Verdict::Succeeded => {
                    self.settled.note(&flight.batch, flight.index);
                    (self.tell)(Told::Ended(cell, Ok(())));
                }
                // It had ended before this run began, or another run watched it: no failure of this one.
                Verdict::Failed(_) | Verdict::Again { .. } if flight.is_found => {
                    self.waiting.push(NewTask { lost: 0, ..flight.task });
                }
                Verdict::Failed(fault) => (self.tell)(Told::Ended(cell, Err(fault))),
                Verdict::Again { why, counts } => {
                    let lost = flight.task.lost + u32::from(counts);
                    if lost > self.settings.resubmit {
                        let fault = Fault {
                            kind: FailedKind::System,
                            reason: format!("{why}; it was submitted {lost} times"),
                            hint: Some("`cwm run` submits it again; does the node log tell more?".to_owned()),
                        };
                        (self.tell)(Told::Ended(cell, Err(fault)));
                    } else {
                        again.push((flight.task.label.clone(), why));
                        self.waiting.push(NewTask { lost, ..flight.task });
                    }
                }
                Verdict::Wait => {}
            }
        }
        self.flights = flying;
        submitted_again(&again).into_iter().for_each(|words| (self.tell)(Told::Warning(words)));
        let flights = &self.flights;
        for (_, watched) in self.batches.extract_if(|id, _| !flights.iter().any(|flight| flight.batch == *id)) {
            watched.batch.close_if_over();
        }
    }

    /// Whether the store has the result of a job: of one that was to be done anew, one that was made since then.
    pub fn is_recorded(&self, key: &Key, force: bool, batch: &Batch, told: bool) -> bool {
        let is_away = batch.file.away.is_some();
        if is_away || (force && !told) {
            let records = self.store.actions(key).unwrap_or_default();
            let is_new = records.iter().any(|record| record.circumstances.started >= batch.file.made);
            // What a job told that does not fill this store has its files with a remote.
            if force || is_new || told {
                return if told { !records.is_empty() } else { is_new };
            }
        }
        self.store.available(key, None, &self.files).is_ok_and(|record| record.is_some())
    }
}

/// That these cells are submitted again, and why: of a whole sweep, of the first of them.
fn submitted_again(cells: &[(Label, String)]) -> Vec<String> {
    let told = if cells.len() > FEW { FEW - 1 } else { cells.len() };
    let mut words: Vec<String> =
        cells[..told].iter().map(|(label, why)| format!("{label}: {why}; it is submitted again")).collect();
    let others = &cells[told..];
    if !others.is_empty() {
        let named = stuck::cells(others.iter().map(|(label, _)| label));
        words.push(format!("{} more cells are submitted again, for reasons such as these: {named}", others.len()));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_sweep_a_few_are_told_of_one_by_one() {
        let cells = |count: u32| -> Vec<(Label, String)> {
            (0..count).map(|n| (format!("part[k={n}]").parse().unwrap(), format!("nothing is left of 1_{n}"))).collect()
        };
        assert_eq!(submitted_again(&cells(1)), ["part[k=0]: nothing is left of 1_0; it is submitted again"]);
        assert_eq!(submitted_again(&cells(8)).len(), 8);
        let told = submitted_again(&cells(100));
        assert!(told.len() == 8 && told[6].starts_with("part[k=6]: "), "{told:?}");
        assert!(
            told[7].starts_with("93 more cells are submitted again") && told[7].ends_with("and 85 more"),
            "{told:?}"
        );
        assert!(submitted_again(&[]).is_empty());
    }
}
