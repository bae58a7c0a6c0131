//! Tasks that wait for what does not come by itself: which these are, and what to do about just them. A word about one task
//! of an array that named the array would have all others cancelled with it.

use std::collections::BTreeMap;

use cwm_contract::Label;

use super::queue::is_held;

/// How many tasks, or cells, are named one by one.
pub const FEW: usize = 8;

/// A task that waits so.
#[derive(Clone, Debug)]
pub struct Stuck {
    /// The job's id.
    pub job: String,
    /// The index in its array.
    pub index: u32,
    /// The cell.
    pub label: Label,
    /// Why it waits, as Slurm says.
    pub reason: String,
}

/// A warning for each reason, with what to do about the tasks that wait for it, and about no others.
pub fn warnings(stuck: &[Stuck]) -> Vec<String> {
    let mut by_reason: BTreeMap<&str, Vec<&Stuck>> = BTreeMap::new();
    for task in stuck {
        by_reason.entry(&task.reason).or_default().push(task);
    }
    by_reason.into_iter().map(|(reason, tasks)| warning(reason, &tasks)).collect()
}

fn warning(reason: &str, tasks: &[&Stuck]) -> String {
    let names = words(tasks.iter().map(|task| (task.job.as_str(), task.index)));
    let first = format!("{}_{}", tasks[0].job, tasks[0].index);
    let cells = cells(tasks.iter().map(|task| &task.label));
    let (jobs, wait, them) = match tasks.len() {
        1 => ("job", "waits, and will not start by itself", "it"),
        _ => ("jobs", "wait, and will not start by themselves", "them"),
    };
    let release = match reason {
        "JobHeldAdmin" => format!("`scontrol release {names}`, by an administrator, lets {them} start, "),
        _ if is_held(reason) => format!("`scontrol release {names}` lets {them} start, "),
        _ => String::new(),
    };
    let shown = if jobs == "job" { "it asks for" } else { "the first asks for" };
    format!(
        "{jobs} {names} ({cells}) {wait}: {reason}. `scontrol show job {first}` says what {shown}; {release}\
         `scancel {names}` ends {them}"
    )
}

/// The first few cells, and how many more there are.
pub fn cells<'t>(labels: impl ExactSizeIterator<Item = &'t Label>) -> String {
    let others = labels.len().saturating_sub(FEW);
    let named: Vec<String> = labels.take(FEW).map(Label::to_string).collect();
    let more = if others > 0 { format!(" and {others} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}

/// Tasks as Slurm's programs take them: `145_3 145_7`, and many of one array as `'145_[0-99,107]'`, quoted for the shell.
pub fn words<'t>(tasks: impl Iterator<Item = (&'t str, u32)>) -> String {
    let mut jobs: BTreeMap<(usize, &str), Vec<u32>> = BTreeMap::new();
    // By length first, as ids are numbers.
    tasks.for_each(|(job, index)| jobs.entry((job.len(), job)).or_default().push(index));
    let is_few = jobs.values().map(Vec::len).sum::<usize>() <= FEW;
    let mut words = Vec::new();
    for ((_, job), mut indices) in jobs {
        indices.sort_unstable();
        indices.dedup();
        match indices[..] {
            [index] => words.push(format!("{job}_{index}")),
            _ if is_few => words.extend(indices.iter().map(|index| format!("{job}_{index}"))),
            _ => words.push(format!("'{job}_[{}]'", ranges(&indices))),
        }
    }
    words.join(" ")
}

/// `0-4,7`, of indices that rise.
fn ranges(indices: &[u32]) -> String {
    let runs = indices.chunk_by(|one, next| one + 1 == *next);
    let words = runs.map(|run| match run {
        [index] => index.to_string(),
        _ => format!("{}-{}", run[0], run[run.len() - 1]),
    });
    words.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stuck(job: &str, index: u32, reason: &str) -> Stuck {
        let label: Label = format!("part[k={}]", index + 1).parse().unwrap();
        Stuck { job: job.into(), index, label, reason: reason.into() }
    }

    #[test]
    fn one_held_task_is_named_and_not_its_array() {
        let told = warnings(&[stuck("2120", 5, "JobHeldAdmin")]);
        let expected = "job 2120_5 (part[k=6]) waits, and will not start by itself: JobHeldAdmin. `scontrol show job 2120_5` \
                        says what it asks for; `scontrol release 2120_5`, by an administrator, lets it start, \
                        `scancel 2120_5` ends it";
        assert_eq!(told, [expected]);
    }

    #[test]
    fn several_are_told_at_once_each_by_its_name() {
        let held = "launch failed requeued held";
        let tasks = [stuck("145", 3, held), stuck("145", 7, held), stuck("99", 0, "PartitionConfig")];
        let told = warnings(&tasks);
        assert_eq!(told.len(), 2);
        assert!(told[0].ends_with("`scancel 99_0` ends it") && !told[0].contains("release"), "{}", told[0]);
        assert!(told[1].starts_with("jobs 145_3 145_7 (part[k=4], part[k=8]) wait, and will not start"), "{}", told[1]);
        assert!(told[1].contains("`scontrol release 145_3 145_7` lets them start, `scancel 145_3 145_7` ends them"));
    }

    #[test]
    fn many_are_named_as_slurm_writes_them() {
        let many = (0..4).chain(9..20).chain([30]).map(|index| ("145", index)).chain([("99", 2)]);
        assert_eq!(words(many), "99_2 '145_[0-3,9-19,30]'");
        let tasks: Vec<Stuck> = (0..11).map(|index| stuck("7", index, "JobHeldUser")).collect();
        let told = &warnings(&tasks)[0];
        assert!(told.contains("part[k=8] and 3 more)") && told.ends_with("`scancel '7_[0-10]'` ends them"), "{told}");
    }
}
