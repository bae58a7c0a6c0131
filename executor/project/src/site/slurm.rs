//! `[slurm]`: the settings of batch jobs.

use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use toml::Value;

use cwm_core::text::parse_duration;

/// The settings under `[slurm]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Slurm {
    /// `--partition`.
    #[serde(deserialize_with = "word")]
    pub partition: Option<String>,
    /// `--account`.
    #[serde(deserialize_with = "word")]
    pub account: Option<String>,
    /// `--qos`.
    #[serde(deserialize_with = "word")]
    pub qos: Option<String>,
    /// `--time` of a stage that says nothing of it, in `needs: { time }` or `limits: { time }`.
    #[serde(deserialize_with = "time")]
    pub time: Option<Duration>,
    /// Further options of sbatch, each as it is written behind `#SBATCH `.
    #[serde(deserialize_with = "sbatch_options")]
    pub lines: Vec<String>,
    /// Lines of shell that a job begins with, such as `module load cuda`.
    #[serde(deserialize_with = "lines")]
    pub setup: Vec<String>,
    /// Stages that are done where `cwm run` runs: a download, where nodes have no network.
    #[serde(deserialize_with = "lines")]
    pub here: Vec<String>,
    /// Cores of a stage that takes whatever there is (`cpu: all`).
    #[serde(deserialize_with = "number::<_, 1, MOST_CPUS>")]
    pub cpus: Option<u32>,
    /// The most jobs in the queue at a time; of an array, each task counts.
    #[serde(deserialize_with = "number::<_, 1, MOST_JOBS>")]
    pub max_jobs: Option<u32>,
    /// The most tasks of an array; the controller's own limit holds in any case.
    #[serde(deserialize_with = "number::<_, 1, MOST_JOBS>")]
    pub array_size: Option<u32>,
    /// The shortest time between two queries of the queue.
    #[serde(deserialize_with = "poll")]
    pub poll: Option<Duration>,
    /// The time after which a job that is neither in the queue nor in the store counts as lost.
    #[serde(deserialize_with = "time")]
    pub visibility_timeout: Option<Duration>,
    /// The number of times that a cell is submitted again whose job was lost or whose node failed.
    #[serde(deserialize_with = "number::<_, 0, MOST_RESUBMISSIONS>")]
    pub resubmit: Option<u32>,
    /// `--time` of the job of `cwm run --detach`.
    #[serde(deserialize_with = "time")]
    pub detached_time: Option<Duration>,
    /// The way in which jobs get their inputs.
    pub store: JobStore,
    /// With [`JobStore::Remote`], the folder of a store that the jobs of a node share; variables in it are the node's.
    #[serde(deserialize_with = "folder")]
    pub scratch: Option<String>,
}

/// The way in which jobs get their inputs, and others their results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobStore {
    /// The store is on a file system that all nodes share.
    #[default]
    Shared,
    /// Each job pulls from a remote and pushes to it.
    Remote,
}

const MOST_JOBS: u32 = 10_000_000;
const MOST_CPUS: u32 = 1 << 20;
const MOST_RESUBMISSIONS: u32 = 100;

/// The shortest interval of queries; the controller serves all users.
const SHORTEST_POLL: Duration = Duration::from_millis(100);

/// Returns the time of a value: whole seconds, or text with units. It is from a millisecond to a thousand days.
pub(super) fn time_of(value: &Value) -> Option<Duration> {
    let time = match value {
        Value::Integer(seconds) => Duration::from_secs(u64::try_from(*seconds).ok()?),
        Value::String(text) => parse_duration(text)?,
        _ => return None,
    };
    (Duration::from_millis(1)..=Duration::from_secs(1000 * 86_400)).contains(&time).then_some(time)
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let time = time_of(&Value::deserialize(deserializer)?);
    time.map(Some).ok_or_else(|| Error::custom("must be a time such as \"30m\", \"4h\" or \"1d12h\""))
}

fn poll<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let must_be = "must be at least 100ms; 5s is gentle to the controller, which serves all users";
    time(deserializer)?.filter(|poll| *poll >= SHORTEST_POLL).map(Some).ok_or_else(|| Error::custom(must_be))
}

fn number<'de, D: Deserializer<'de>, const LEAST: u32, const MOST: u32>(
    deserializer: D,
) -> Result<Option<u32>, D::Error> {
    let number = Value::deserialize(deserializer)?.as_integer().and_then(|number| u32::try_from(number).ok());
    let number = number.filter(|number| (LEAST..=MOST).contains(number));
    number.map(Some).ok_or_else(|| Error::custom(format!("must be a whole number from {LEAST} to {MOST}")))
}

fn text<'de, D: Deserializer<'de>>(
    deserializer: D,
    must_be: &str,
    is_right: fn(&str) -> bool,
) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if !text.is_empty() && is_right(&text) { Ok(text) } else { Err(Error::custom(must_be)) }
}

/// One word, which becomes the value of an option in a script's comment.
fn word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let is_word = |text: &str| !text.starts_with('-') && !text.contains(|c: char| c.is_whitespace() || c.is_control());
    text(deserializer, "must be one word, as `sbatch` takes it", is_word).map(Some)
}

/// A folder of the nodes, which alone know its variables.
fn folder<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let is_folder = |text: &str| text.starts_with(['/', '$']) && !text.contains(char::is_control);
    let must_be = "must be an absolute path, such as \"/local/$USER/cwm\"; variables are those of the node";
    text(deserializer, must_be, is_folder).map(Some)
}

/// One line of text.
#[derive(Deserialize)]
struct Line(#[serde(deserialize_with = "line")] String);

fn line<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let is_line = |text: &str| !text.contains(['\n', '\0']);
    text(deserializer, "must be one line, such as \"module load cuda\"", is_line)
}

fn lines<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(Vec::<Line>::deserialize(deserializer)?.into_iter().map(|Line(line)| line).collect())
}

/// An option of sbatch, with or without the `#SBATCH ` that it gets in the job's script.
#[derive(Deserialize)]
struct SbatchOption(#[serde(deserialize_with = "sbatch_option")] String);

fn sbatch_option<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    let option = text.strip_prefix("#SBATCH").map_or(text.as_str(), str::trim_start).trim_end();
    let is_option = option.starts_with('-') && !option.contains(char::is_control);
    is_option
        .then(|| option.to_owned())
        .ok_or_else(|| Error::custom("must be one option, such as \"--constraint=h100\""))
}

fn sbatch_options<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(Vec::<SbatchOption>::deserialize(deserializer)?.into_iter().map(|SbatchOption(option)| option).collect())
}
