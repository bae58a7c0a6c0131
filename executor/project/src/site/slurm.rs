//! `[slurm]`: how jobs are to be.

use std::time::Duration;

use cwm_contract::Value;

use super::read::unknown_key;
use cwm_core::located::duration;
use cwm_core::{Content, Diagnostic, Node, NodeReader};

/// The settings under `[slurm]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slurm {
    /// `--partition`.
    pub partition: Option<String>,
    /// `--account`.
    pub account: Option<String>,
    /// `--qos`.
    pub qos: Option<String>,
    /// `--time` of a stage that says nothing of it, in `needs: { time }` or `limits: { time }`.
    pub time: Option<Duration>,
    /// Further options of sbatch, each as it stands behind `#SBATCH `.
    pub lines: Vec<String>,
    /// Lines of shell that a job begins with, such as `module load cuda`.
    pub setup: Vec<String>,
    /// Stages that are done where `cwm run` runs: a download, where nodes have no network.
    pub here: Vec<String>,
    /// Cores of a stage that takes whatever there is (`cpu: all`).
    pub cpus: Option<u32>,
    /// How many jobs may be in the queue at a time; of an array, each task counts.
    pub max_jobs: Option<u32>,
    /// How many tasks an array may have; the controller's own limit holds in any case.
    pub array_size: Option<u32>,
    /// How long it is at least between two looks at the queue.
    pub poll: Option<Duration>,
    /// How long nothing may be seen of a job, neither in the queue nor in the store, until it is taken for lost.
    pub patience: Option<Duration>,
    /// How often a cell is submitted again whose job was lost or whose node failed.
    pub resubmit: Option<u32>,
    /// `--time` of the job of `cwm run --detach`.
    pub detached_time: Option<Duration>,
    /// How jobs come by their inputs.
    pub store: JobStore,
    /// With [`JobStore::Remote`], the folder of a store that the jobs of a node share; variables in it are the node's.
    pub scratch: Option<String>,
}

/// How jobs come by their inputs, and their results to others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JobStore {
    /// The store is on a file system that all nodes share.
    #[default]
    Shared,
    /// Each job pulls from a remote and pushes to it.
    Remote,
}

pub(super) const KEYS: &[&str] = &[
    "partition",
    "account",
    "qos",
    "time",
    "lines",
    "setup",
    "here",
    "cpus",
    "max_jobs",
    "array_size",
    "poll",
    "patience",
    "resubmit",
    "detached_time",
    "store",
    "scratch",
];

const MOST_JOBS: i128 = 10_000_000;
const MOST_CPUS: i128 = 1 << 20;
const MOST_RESUBMISSIONS: i128 = 100;

impl Slurm {
    /// Reads the table.
    pub(super) fn read(node: &Node, reader: &mut NodeReader<'_>) -> Slurm {
        let mut slurm = Slurm::default();
        let mut scratch = None;
        for (key, value) in reader.map(node, "`slurm`", "keys of `slurm`") {
            match key.text.as_str() {
                "partition" => slurm.partition = word(value, "partition", reader),
                "account" => slurm.account = word(value, "account", reader),
                "qos" => slurm.qos = word(value, "qos", reader),
                "time" => slurm.time = time(value, "time", reader),
                "detached_time" => slurm.detached_time = time(value, "detached_time", reader),
                "patience" => slurm.patience = time(value, "patience", reader),
                "poll" => slurm.poll = poll(value, reader),
                "lines" => slurm.lines = lines(value, reader),
                "setup" => slurm.setup = texts(value, "setup", "[\"module load cuda\"]", reader),
                "here" => slurm.here = texts(value, "here", "[\"download\"]", reader),
                "cpus" => slurm.cpus = number(value, "cpus", "cores", &(1..=MOST_CPUS), reader),
                "max_jobs" => slurm.max_jobs = number(value, "max_jobs", "jobs", &(1..=MOST_JOBS), reader),
                "array_size" => slurm.array_size = number(value, "array_size", "tasks", &(1..=MOST_JOBS), reader),
                "resubmit" => {
                    slurm.resubmit = number(value, "resubmit", "times", &(0..=MOST_RESUBMISSIONS), reader);
                }
                "store" => match value.text() {
                    Some("shared") => slurm.store = JobStore::Shared,
                    Some("remote") => slurm.store = JobStore::Remote,
                    _ => wrong(
                        value,
                        "`store` must be \"shared\" (the nodes see the store) or \"remote\" (jobs pull and push)",
                        reader,
                    ),
                },
                "scratch" => {
                    scratch = Some(key.place);
                    slurm.scratch = folder(value, reader);
                }
                _ => unknown_key(reader, key, "`slurm`", KEYS),
            }
        }
        if let (Some(place), JobStore::Shared) = (scratch, slurm.store) {
            reader.report(
                Diagnostic::at(place, "`scratch` is for jobs that do not read the run's store")
                    .hint("add `store = \"remote\"`, or leave it out"),
            );
        }
        slurm
    }
}

fn wrong(node: &Node, message: &str, reader: &mut NodeReader<'_>) {
    reader.report(Diagnostic::at(node.place, message));
}

fn number(
    node: &Node,
    key: &str,
    of: &str,
    range: &std::ops::RangeInclusive<i128>,
    reader: &mut NodeReader<'_>,
) -> Option<u32> {
    let found = match node.scalar() {
        Some(Value::Int(integer)) if range.contains(integer) => u32::try_from(*integer).ok(),
        _ => None,
    };
    if found.is_none() {
        let (least, most) = (range.start(), range.end());
        wrong(node, &format!("`{key}` must be a number of {of}, from {least} to {most}"), reader);
    }
    found
}

fn time(node: &Node, key: &str, reader: &mut NodeReader<'_>) -> Option<Duration> {
    let time = duration(node);
    if time.is_none() {
        wrong(node, &format!("`{key}` must be a time such as \"30m\", \"4h\" or \"1d12h\""), reader);
    }
    time
}

/// The controller is everybody's.
const SHORTEST_POLL: Duration = Duration::from_millis(100);

fn poll(node: &Node, reader: &mut NodeReader<'_>) -> Option<Duration> {
    let poll = time(node, "poll", reader)?;
    if poll < SHORTEST_POLL {
        wrong(node, "`poll` must be at least 100ms; 5s is gentle to the controller, which is everybody's", reader);
        return None;
    }
    Some(poll)
}

/// A list of lines.
fn texts(node: &Node, key: &str, example: &str, reader: &mut NodeReader<'_>) -> Vec<String> {
    let Content::List(items) = &node.content else {
        wrong(node, &format!("`{key}` must be a list such as {example}"), reader);
        return Vec::new();
    };
    let mut texts = Vec::new();
    for item in items {
        let Some(word) = reader.word(item, &format!("each of `{key}`")) else { continue };
        if word.text.contains(['\n', '\0']) {
            wrong(item, &format!("each of `{key}` must be one line"), reader);
        } else {
            texts.push(word.text);
        }
    }
    texts
}

/// A folder of the nodes. What its variables are is known there.
fn folder(node: &Node, reader: &mut NodeReader<'_>) -> Option<String> {
    let word = reader.word(node, "`scratch`")?;
    if !word.text.starts_with(['/', '$']) || word.text.contains(char::is_control) {
        let message =
            "`scratch` must be an absolute path, such as \"/local/$USER/cwm\"; variables are those of the node";
        wrong(node, message, reader);
        return None;
    }
    Some(word.text)
}

/// One word: it becomes the value of an option in a script's comment.
fn word(node: &Node, key: &str, reader: &mut NodeReader<'_>) -> Option<String> {
    let word = reader.word(node, &format!("`{key}`"))?;
    if word.text.starts_with('-') || word.text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        wrong(node, &format!("`{key}` must be one word, as `sbatch --{key}` takes it"), reader);
        return None;
    }
    Some(word.text)
}

fn lines(node: &Node, reader: &mut NodeReader<'_>) -> Vec<String> {
    let Content::List(items) = &node.content else {
        wrong(node, "`lines` must be a list of options of sbatch, such as [\"--constraint=h100\"]", reader);
        return Vec::new();
    };
    let mut lines = Vec::new();
    for item in items {
        let Some(word) = reader.word(item, "each of `lines`") else { continue };
        let line = word.text.strip_prefix("#SBATCH").map_or(word.text.as_str(), str::trim_start).trim_end();
        if line.starts_with('-') && !line.contains(char::is_control) {
            lines.push(line.to_owned());
        } else {
            reader.report(
                Diagnostic::at(item.place, "each of `lines` must be an option of sbatch on one line")
                    .hint("such as \"--constraint=h100\"; it is written into the job's script behind `#SBATCH `"),
            );
        }
    }
    lines
}
