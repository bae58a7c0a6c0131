//! Arguments of the commands for remotes.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::PipelineArguments;
use super::completers::files_and_stages;

/// Arguments of `remote`.
#[derive(Debug, Args)]
pub struct RemoteArguments {
    /// The command
    #[command(subcommand)]
    pub command: RemoteCommand,
    /// The pipeline beside which cwm.toml is [default: pipeline.yaml here or in a folder above]
    #[arg(short = 'f', long = "file", value_name = "FILE", global = true)]
    pub file: Option<PathBuf>,
}

/// The commands for remotes.
#[derive(Debug, Subcommand)]
pub enum RemoteCommand {
    /// Write a remote into cwm.toml, beside the pipeline
    Add(AddRemoteArguments),
    /// List the remotes of cwm.toml, in the order in which they are used
    List,
    /// Take a remote out of cwm.toml; what it holds stays there
    Remove {
        /// Its name
        name: String,
    },
}

/// Arguments of `remote add`.
#[derive(Debug, Args)]
pub struct AddRemoteArguments {
    /// Its name: a small letter, then small letters, digits and `_`
    pub name: String,
    /// A folder, or s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX, http://… or https://… (read only)
    pub url: String,
    /// Nothing is ever written to it
    #[arg(long)]
    pub read_only: bool,
    /// The server of an s3:// remote that is not Amazon's
    #[arg(long, value_name = "URL")]
    pub endpoint: Option<String>,
    /// The region of an s3:// remote
    #[arg(long, value_name = "NAME")]
    pub region: Option<String>,
}

/// Arguments of `pull`, which `push` has, too.
#[derive(Debug, Args)]
pub struct TransferArguments {
    /// A pipeline file (if it ends in .yaml or .yml), then only these stages or cells [default: all]
    #[arg(value_name = "FILE|STAGE", add = files_and_stages())]
    pub words: Vec<String>,
    /// The pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
    /// Only this remote of cwm.toml [default: all, in their order]
    #[arg(long, value_name = "NAME")]
    pub remote: Option<String>,
    /// Show all progress in plain lines
    #[arg(short = 'v', long)]
    pub verbose: bool,
}

/// Arguments of `push`.
#[derive(Debug, Args)]
#[command(mut_arg("remote", |arg| arg.help("Only this remote of cwm.toml [default: the first that can be written]")))]
pub struct PushArguments {
    /// The results and the remote
    #[command(flatten)]
    pub transfer: TransferArguments,
    /// Send files also where the remote has them already: in place of what may be damaged there
    #[arg(long)]
    pub force: bool,
}
