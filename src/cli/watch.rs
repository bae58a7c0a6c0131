//! The arguments of `watch`.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::completers::devices;
use super::{Output, PipelineArguments, RunArguments};

/// Arguments of `watch`.
#[derive(Debug, Args)]
pub struct WatchArguments {
    /// A pipeline file (if it ends in .yaml or .yml), then stages, such as model or 'model[size=d32/l1]'
    #[arg(value_name = "FILE|STAGE")]
    pub words: Vec<String>,
    /// Which pipeline, and with which variables
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// Cores to use [default: all]
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Where train and evaluate compute, in place of what the pipeline says: auto, cpu, cuda:0, cuda:1, …
    #[arg(long, env = "CWM_DEVICE", value_name = "NAME", add = ArgValueCompleter::new(devices))]
    pub device: Option<cwm_contract::DeviceChoice>,
    /// How to show what happens
    #[arg(long, value_enum, default_value_t = Output::Auto)]
    pub output: Output,
    /// One JSON object a line on standard output: the events of all runs, `watching` and `changed` (docs/events.md)
    #[arg(long)]
    pub json: bool,
}

impl WatchArguments {
    /// Those of each run.
    pub fn run(&self) -> RunArguments {
        RunArguments {
            words: self.words.clone(),
            pipeline: self.pipeline.clone(),
            dry_run: false,
            check: false,
            pull: false,
            push: false,
            remote: None,
            force: Vec::new(),
            executor: None,
            detach: false,
            jobs: self.jobs,
            device: self.device,
            output: self.output,
            verbose: false,
            json: self.json,
        }
    }
}
