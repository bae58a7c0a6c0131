//! `[slurm]`: how jobs are to be.

use std::ops::RangeInclusive;
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
    /// Further options of sbatch, each as it is written behind `#SBATCH `.
    pub lines: Vec<String>,
    /// Lines of shell that a job begins with, such as `module load cuda`.
    pub setup: Vec<String>,
    /// Stages that are done where `cwm run` runs: a download, where nodes have no network.
    pub here: Vec<String>,
    /// Cores of a stage that takes whatever there is (`cpu: all`).
    pub cpus: Option<u32>,
    /// The most jobs in the queue at a time; of an array, each task counts.
    pub max_jobs: Option<u32>,
    /// The most tasks of an array; the controller's own limit holds in any case.
    pub array_size: Option<u32>,
    /// The shortest time between two queries of the queue.
    pub poll: Option<Duration>,
    /// The time after which a job that is neither in the queue nor in the store counts as lost.
    pub visibility_timeout: Option<Duration>,
    /// The number of times that a cell is submitted again whose job was lost or whose node failed.
    pub resubmit: Option<u32>,
    /// `--time` of the job of `cwm run --detach`.
    pub detached_time: Option<Duration>,
    /// The way in which jobs get their inputs.
    pub store: JobStore,
    /// With [`JobStore::Remote`], the folder of a store that the jobs of a node share; variables in it are the node's.
    pub scratch: Option<String>,
}

/// The way in which jobs get their inputs, and others their results.
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
    "visibility_timeout",
    "resubmit",
    "detached_time",
    "store",
    "scratch",
];

const MOST_JOBS: u32 = 10_000_000;
const MOST_CPUS: u32 = 1 << 20;
const MOST_RESUBMISSIONS: u32 = 100;

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
                "visibility_timeout" => slurm.visibility_timeout = time(value, "visibility_timeout", reader),
                "poll" => slurm.poll = poll(value, reader),
                "lines" => slurm.lines = list(value, "lines", "--constraint=h100", reader, sbatch_option),
                "setup" => slurm.setup = list(value, "setup", "module load cuda", reader, is_line),
                "here" => slurm.here = list(value, "here", "download", reader, is_line),
                "cpus" => slurm.cpus = number(value, "cpus", 1..=MOST_CPUS, "cores", reader),
                "max_jobs" => slurm.max_jobs = number(value, "max_jobs", 1..=MOST_JOBS, "jobs", reader),
                "array_size" => slurm.array_size = number(value, "array_size", 1..=MOST_JOBS, "tasks", reader),
                "resubmit" => slurm.resubmit = number(value, "resubmit", 0..=MOST_RESUBMISSIONS, "times", reader),
                "store" => {
                    let store = match value.text() {
                        Some("shared") => Some(JobStore::Shared),
                        Some("remote") => Some(JobStore::Remote),
                        _ => None,
                    };
                    let must_be =
                        "`store` must be \"shared\" (the nodes see the store) or \"remote\" (jobs pull and push)";
                    slurm.store = checked(value, reader, must_be, store).unwrap_or_default();
                }
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

/// Reads a value, or reports what it must be.
fn checked<T>(node: &Node, reader: &mut NodeReader<'_>, must_be: &str, value: Option<T>) -> Option<T> {
    if value.is_none() {
        reader.report(Diagnostic::at(node.place, must_be));
    }
    value
}

fn number(node: &Node, key: &str, range: RangeInclusive<u32>, of: &str, reader: &mut NodeReader<'_>) -> Option<u32> {
    let found = match node.scalar() {
        Some(Value::Int(integer)) => u32::try_from(*integer).ok().filter(|number| range.contains(number)),
        _ => None,
    };
    let (least, most) = (range.start(), range.end());
    checked(node, reader, &format!("`{key}` must be a number of {of}, from {least} to {most}"), found)
}

fn time(node: &Node, key: &str, reader: &mut NodeReader<'_>) -> Option<Duration> {
    let must_be = format!("`{key}` must be a time such as \"30m\", \"4h\" or \"1d12h\"");
    checked(node, reader, &must_be, duration(node))
}

/// The controller is everybody's.
const SHORTEST_POLL: Duration = Duration::from_millis(100);

fn poll(node: &Node, reader: &mut NodeReader<'_>) -> Option<Duration> {
    let poll = time(node, "poll", reader)?;
    let must_be = "`poll` must be at least 100ms; 5s is gentle to the controller, which is everybody's";
    checked(node, reader, must_be, Some(poll).filter(|poll| *poll >= SHORTEST_POLL))
}

/// Reads a list of texts, each of which must pass `check`, with its place.
fn list(
    node: &Node,
    key: &str,
    example: &str,
    reader: &mut NodeReader<'_>,
    check: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let Content::List(items) = &node.content else {
        reader.report(Diagnostic::at(node.place, format!("`{key}` must be a list such as [\"{example}\"]")));
        return Vec::new();
    };
    let mut texts = Vec::new();
    for item in items {
        let Some(word) = reader.word(item, &format!("each of `{key}`")) else { continue };
        let must_be = format!("each of `{key}` must be one line such as \"{example}\"");
        texts.extend(checked(item, reader, &must_be, check(&word.text)));
    }
    texts
}

fn is_line(text: &str) -> Option<String> {
    (!text.contains(['\n', '\0'])).then(|| text.to_owned())
}

/// An option of sbatch, with or without the `#SBATCH ` that it gets in the job's script.
fn sbatch_option(text: &str) -> Option<String> {
    let option = text.strip_prefix("#SBATCH").map_or(text, str::trim_start).trim_end();
    (option.starts_with('-') && !option.contains(char::is_control)).then(|| option.to_owned())
}

/// A folder of the nodes, which alone know its variables.
fn folder(node: &Node, reader: &mut NodeReader<'_>) -> Option<String> {
    let text = reader.word(node, "`scratch`")?.text;
    let is_folder = text.starts_with(['/', '$']) && !text.contains(char::is_control);
    let must_be = "`scratch` must be an absolute path, such as \"/local/$USER/cwm\"; variables are those of the node";
    checked(node, reader, must_be, Some(text).filter(|_| is_folder))
}

/// One word, which becomes the value of an option in a script's comment.
fn word(node: &Node, key: &str, reader: &mut NodeReader<'_>) -> Option<String> {
    let text = reader.word(node, &format!("`{key}`"))?.text;
    let is_word = !text.starts_with('-') && !text.contains(|c: char| c.is_whitespace() || c.is_control());
    let must_be = format!("`{key}` must be one word, as `sbatch --{key}` takes it");
    checked(node, reader, &must_be, Some(text).filter(|_| is_word))
}
