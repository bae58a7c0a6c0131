//! Tasks that Slurm does not start until somebody changes something. They are reported by their own names: a command for the
//! whole array would hit its other tasks, too.

use std::collections::BTreeMap;

use cwm_contract::Label;

/// Number of cells that a message names.
pub const MAX_LISTED: usize = 8;

/// A pending task whose reason does not pass by itself.
#[derive(Clone, Debug)]
pub struct HeldTask {
    /// The task as Slurm names it: `145_3`.
    pub name: String,
    /// The cell.
    pub label: Label,
    /// Why it waits, in Slurm's words.
    pub reason: String,
}

/// A warning for each reason.
pub fn warnings(held: &[HeldTask]) -> Vec<String> {
    let mut by_reason: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for task in held {
        by_reason.entry(&task.reason).or_default().push(format!("{} ({})", task.name, task.label));
    }
    let warning = |(reason, tasks): (&str, Vec<String>)| {
        let first = tasks[0].split(' ').next().unwrap_or_default();
        format!(
            "Slurm does not start {}: {reason}; `scontrol show job {first}` says what it asks for",
            listed(tasks.iter())
        )
    };
    by_reason.into_iter().map(warning).collect()
}

/// The first few items, and how many more there are.
pub fn listed<T: ToString>(items: impl ExactSizeIterator<Item = T>) -> String {
    let others = items.len().saturating_sub(MAX_LISTED);
    let named: Vec<String> = items.take(MAX_LISTED).map(|item| item.to_string()).collect();
    let more = if others > 0 { format!(" and {others} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_tasks_are_named_and_never_their_array() {
        let held = |index: u32, reason: &str| HeldTask {
            name: format!("145_{index}"),
            label: format!("part[k={index}]").parse().unwrap(),
            reason: reason.into(),
        };
        let mut tasks: Vec<HeldTask> = (0..11).map(|index| held(index, "JobHeldUser")).collect();
        tasks.push(held(11, "PartitionConfig"));
        let [user, config] = &warnings(&tasks)[..] else { panic!("a warning for each reason") };
        assert!(user.starts_with("Slurm does not start 145_0 (part[k=0]), 145_1 (part[k=1])"), "{user}");
        assert!(user.ends_with("and 3 more: JobHeldUser; `scontrol show job 145_0` says what it asks for"), "{user}");
        assert!(config.starts_with("Slurm does not start 145_11 (part[k=11]): PartitionConfig;"), "{config}");
    }
}
