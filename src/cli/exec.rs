//! The arguments of `exec`.

use std::time::Duration;

use clap::Args;

use cwm_action::AttemptOptions;

/// Arguments of `exec`.
#[derive(Debug, Args)]
pub struct ExecArguments {
    /// The key of the action
    pub key: String,
    /// Which attempt it is
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub attempt: u32,
    /// How many attempts there may be
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub attempts: u32,
    /// Seconds that it may run
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub time: Option<Duration>,
    /// Bytes of memory that its processes may hold together
    #[arg(long, value_name = "BYTES")]
    pub memory: Option<u64>,
    /// Compare the result with the recorded one, and change nothing
    #[arg(long)]
    pub check: bool,
    /// Who asked for it, for those who wait for it
    #[arg(long, value_name = "WHO")]
    pub requested_by: Option<String>,
    /// The batch of which it is a task: its terms stand there, and it tells there how it goes
    #[arg(long, value_name = "BATCH", requires = "task")]
    pub batch: Option<String>,
    /// Which task of the batch
    #[arg(long, value_name = "N", requires = "batch")]
    pub task: Option<u32>,
}

impl ExecArguments {
    /// On which terms the action is done.
    pub fn terms(self) -> AttemptOptions {
        let ExecArguments { key: _, attempt, attempts, time, memory, check, requested_by, batch: _, task: _ } = self;
        AttemptOptions { attempt, attempts, time, memory, check, requested_by }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("`{text}` is not a number of seconds"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
