//! Tasks that had begun and wait again: Slurm put them back into the queue, and starts them once more. Nobody need do anything
//! about that, and whoever sees hours of work begin anew, or go on late, is told why.

use std::collections::BTreeMap;

use cwm_contract::Label;

use super::queue::End;
use super::said::end_in;
use super::stuck;

/// A task that waits again.
#[derive(Clone, Debug)]
pub struct PutBack {
    /// The job's id.
    pub job: String,
    /// The index in its array.
    pub index: u32,
    /// The cell.
    pub label: Label,
    /// How its start before ended, as far as its output tells.
    pub end: Option<End>,
}

impl PutBack {
    /// A task whose output says so much.
    pub fn new(job: &str, index: u32, label: Label, said: Option<&str>) -> PutBack {
        PutBack { job: job.to_owned(), index, label, end: said.and_then(end_in) }
    }
}

/// A warning for each cause.
pub fn warnings(put_back: &[PutBack]) -> Vec<String> {
    let mut by_cause: BTreeMap<&str, Vec<&PutBack>> = BTreeMap::new();
    for task in put_back {
        let cause = match task.end {
            Some(End::Preempted) => "had to make room for others",
            Some(End::NodeFail) => "lost its node",
            _ => "was put back into the queue",
        };
        by_cause.entry(cause).or_default().push(task);
    }
    by_cause.into_iter().map(|(cause, tasks)| warning(cause, &tasks)).collect()
}

fn warning(cause: &str, tasks: &[&PutBack]) -> String {
    if let [task] = tasks {
        return format!("{}: its job {}_{} {cause}; Slurm starts it again", task.label, task.job, task.index);
    }
    let cells = stuck::cells(tasks.iter().map(|task| &task.label));
    let names = stuck::words(tasks.iter().map(|task| (task.job.as_str(), task.index)));
    format!("each of the jobs {names} ({cells}) {cause}; Slurm starts them again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_told_once_for_all_that_share_it() {
        let label: Label = "part[k=1]".parse().unwrap();
        let said =
            |why: &str| format!("slurmstepd: error: *** JOB 20 ON cn1 CANCELLED AT 2026-11-22T07:00:00{why} ***");
        let task = |index, why: &str| PutBack::new("17", index, label.clone(), Some(&said(why)));
        assert_eq!(
            warnings(&[task(0, " DUE TO PREEMPTION"), task(3, " DUE TO PREEMPTION"), task(4, " DUE TO JOB REQUEUE")]),
            [
                "each of the jobs 17_0 17_3 (part[k=1], part[k=1]) had to make room for others; Slurm starts them again",
                "part[k=1]: its job 17_4 was put back into the queue; Slurm starts it again",
            ]
        );
        let silent = PutBack::new("17", 0, label.clone(), None);
        assert!(warnings(&[silent])[0].contains("17_0 was put back"));
    }
}
