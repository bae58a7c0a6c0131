//! `[slurm]`: the settings of batch jobs.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use toml::Value;

use cwm_core::parse_setting_duration;

/// The settings under `[slurm]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SlurmConfig {
    /// `--partition`.
    #[serde(deserialize_with = "word")]
    pub partition: Option<String>,
    /// `--account`.
    #[serde(deserialize_with = "word")]
    pub account: Option<String>,
    /// `--qos`.
    #[serde(deserialize_with = "word")]
    pub qos: Option<String>,
    /// `--time` of a stage without `needs: { time }` and `limits: { time }`.
    #[serde(deserialize_with = "time")]
    pub time: Option<Duration>,
    /// Further options of sbatch, each as it is written behind `#SBATCH `.
    #[serde(deserialize_with = "sbatch_options")]
    pub lines: Vec<String>,
    /// Lines of shell that a job begins with, such as `module load cuda`.
    pub setup: Vec<String>,
    /// Stages that are done where `cwm run` runs: a download, where nodes have no network.
    #[serde(rename = "here")]
    pub local_stages: Vec<String>,
    /// Cores of a stage that takes whatever there is (`cpu: all`).
    pub cpus: Option<NonZeroU32>,
    /// The most jobs in the queue at a time; of an array, each task counts.
    pub max_jobs: Option<NonZeroUsize>,
    /// The most tasks of an array; the controller's own limit holds in any case.
    pub array_size: Option<NonZeroUsize>,
    /// The shortest time between two queries of the queue.
    #[serde(deserialize_with = "time")]
    pub poll: Option<Duration>,
    /// The time after which a job that is neither in the queue nor in the store counts as lost.
    #[serde(deserialize_with = "time")]
    pub visibility_timeout: Option<Duration>,
    /// The number of times that a cell is submitted again whose job was lost or whose node failed.
    pub resubmit: Option<u32>,
    /// `--time` of the job of `cwm run --detach`.
    #[serde(deserialize_with = "time")]
    pub detached_time: Option<Duration>,
    /// The way in which jobs get their inputs.
    pub store: StoreAccess,
    /// With [`StoreAccess::Remote`], the folder of a store that the jobs of a node share; variables in it are the node's.
    #[serde(deserialize_with = "folder")]
    pub scratch: Option<String>,
}

/// The way in which jobs get their inputs, and others their results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoreAccess {
    /// The store is on a file system that all nodes share.
    #[default]
    Shared,
    /// Each job pulls from a remote and pushes to it.
    Remote,
}

/// The shortest of these times: a query of the queue costs the controller, which serves all users.
const SHORTEST: Duration = Duration::from_millis(100);

/// Returns the time of a value, if it is one.
pub(super) fn time_of(value: &Value) -> Option<Duration> {
    match value {
        Value::Integer(seconds) => parse_setting_duration(&seconds.to_string()),
        Value::String(text) => parse_setting_duration(text),
        _ => None,
    }
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let time = time_of(&Value::deserialize(deserializer)?).filter(|time| *time >= SHORTEST);
    time.map(Some).ok_or_else(|| Error::custom("must be a time such as \"5s\", \"30m\", \"4h\" or \"1d12h\""))
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

/// A folder of the nodes, which alone have its variables.
fn folder<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let is_folder = |text: &str| text.starts_with(['/', '$']) && !text.contains(char::is_control);
    let must_be = "must be an absolute path, such as \"/local/$USER/cwm\"; variables are those of the node";
    text(deserializer, must_be, is_folder).map(Some)
}

/// Options of sbatch, with or without the `#SBATCH ` that they get in the job's script.
fn sbatch_options<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let lines = Vec::<String>::deserialize(deserializer)?.into_iter();
    let options: Vec<String> = lines.map(|line| line.trim_start_matches("#SBATCH").trim().to_owned()).collect();
    let is_option = |text: &String| text.starts_with('-') && !text.contains(char::is_control);
    let must_be = "must be options, each such as \"--constraint=h100\"";
    if options.iter().all(is_option) { Ok(options) } else { Err(Error::custom(must_be)) }
}
