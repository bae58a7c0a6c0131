//! Arguments of the commands for remotes.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Args, FromArgMatches, Subcommand};
use cwm_remote::{Kinds, OptionKey};

use super::PipelineArguments;
use super::completers::files_and_stages;

/// Arguments of `remote`.
#[derive(Debug, Args)]
pub struct RemoteArguments {
    /// The command
    #[command(subcommand)]
    pub command: RemoteCommand,
    /// The pipeline next to cwm.toml [default: pipeline.yaml here or in a folder above]
    #[arg(short = 'f', long = "file", value_name = "FILE", global = true)]
    pub file: Option<PathBuf>,
}

/// The commands for remotes.
#[derive(Debug, Subcommand)]
pub enum RemoteCommand {
    /// Add a remote to cwm.toml
    Add(AddRemoteArguments),
    /// List the remotes
    List,
    /// Remove a remote, not its data
    Remove {
        /// The name of the remote
        name: String,
    },
}

/// Arguments of `remote add`.
#[derive(Debug, Args)]
pub struct AddRemoteArguments {
    /// The name of the remote: a lowercase letter, then lowercase letters, digits and `_`
    pub name: String,
    /// The folder or URL
    #[arg(help = format!("One of: {}", Kinds::url_forms()))]
    pub url: String,
    /// Never write to it
    #[arg(long)]
    pub read_only: bool,
    /// The keys that only some kinds of remotes have
    #[command(flatten)]
    pub options: RemoteOptions,
}

/// The options of `remote add` that only some kinds of remotes have, which define them: key and value of those that are set.
#[derive(Debug)]
pub struct RemoteOptions(pub Vec<(&'static str, String)>);

impl FromArgMatches for RemoteOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let option = |key: &'static str| Some((key, matches.get_one::<String>(key)?.clone()));
        Ok(RemoteOptions(Kinds::options().into_keys().filter_map(option).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for RemoteOptions {
    fn augment_args(command: clap::Command) -> clap::Command {
        let option = |key: &OptionKey| Arg::new(key.name).long(key.name).value_name(key.value_name).help(key.help);
        command.args(Kinds::options().into_values().map(option))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
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
    /// Upload files again that the remote has, in place of damaged ones
    #[arg(long)]
    pub force: bool,
}
