//! The arguments of `run`.

use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCompleter;

use super::PipelineArguments;
use super::completers::{devices, files_and_stages, stages};

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// A pipeline file (if it ends in .yaml or .yml), then stages, such as model or 'model[size=d32/l1]'
    #[arg(value_name = "FILE|STAGE", add = ArgValueCompleter::new(files_and_stages))]
    pub words: Vec<String>,
    /// Which pipeline, and with which variables
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// Say what would run, and why; run nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Do these stages anew, beside what is recorded of them, and say whether the same bytes come out; nothing is changed.
    /// Exit code 8 if others do
    #[arg(long, conflicts_with_all = ["dry_run", "force"])]
    pub check: bool,
    /// Run these stages even if they are cached (may be repeated)
    #[arg(long, value_name = "STAGE", add = ArgValueCompleter::new(stages))]
    pub force: Vec<String>,
    /// Fetch what remotes of cwm.toml have instead of computing it
    #[arg(long, conflicts_with_all = ["dry_run", "check"])]
    pub pull: bool,
    /// Send what is done to the first remote that can be written, at the end
    #[arg(long, conflicts_with_all = ["dry_run", "check"])]
    pub push: bool,
    /// With --pull and --push, and for jobs with `store = "remote"`: this remote alone
    #[arg(long, value_name = "NAME")]
    pub remote: Option<String>,
    /// Cores to use [default: all]
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Who does the work, in place of what `cwm.toml` says
    #[arg(long, value_enum, value_name = "WHO")]
    pub executor: Option<Executor>,
    /// Leave the run itself to a job of Slurm, and end
    #[arg(long, conflicts_with = "dry_run")]
    pub detach: bool,
    /// Where train and evaluate compute, in place of what the pipeline says: auto, cpu, cuda:0, cuda:1, …
    #[arg(long, env = "CWM_DEVICE", value_name = "NAME", add = ArgValueCompleter::new(devices))]
    pub device: Option<cwm_contract::DeviceChoice>,
    /// Show each cached cell, however many there are, and in plain lines all progress
    #[arg(short = 'v', long)]
    pub verbose: bool,
    /// How to show what happens
    #[arg(long, value_enum, default_value_t = Output::Auto)]
    pub output: Output,
    /// One JSON object a line on standard output; the same as --output json
    #[arg(long)]
    pub json: bool,
}

/// Who does the work of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Executor {
    /// Processes on this machine
    Local,
    /// Jobs of Slurm
    Slurm,
}

/// How a run shows what happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// Live on a terminal, plain lines elsewhere
    Auto,
    /// Live bars
    Live,
    /// One line an event
    Plain,
    /// One JSON object a line, on standard output
    Json,
}
