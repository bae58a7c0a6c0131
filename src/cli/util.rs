//! Arguments of the commands for the program itself: `cwm util`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::Shell;

/// The commands for the program itself.
#[derive(Debug, Subcommand)]
pub enum UtilCommand {
    /// Print the schema of pipeline files
    ///
    /// JSON Schema, for editors; with --markdown, a page of all stages and parameters.
    Schema(SchemaArguments),
    /// Print a shell's completion script
    ///
    /// It completes commands, options, and the stages and cells of the pipeline. Examples: `source <(cwm util completions bash)`,
    /// `cwm util completions fish | source`, `eval (cwm util completions elvish | slurp)`,
    /// `cwm util completions powershell | Out-String | Invoke-Expression`.
    Completions(CompletionsArguments),
    /// Write manual pages
    Man(ManArguments),
}

/// Arguments of `util schema`.
#[derive(Debug, Args)]
pub struct SchemaArguments {
    /// A Markdown page of all keys, stages and parameters
    #[arg(long)]
    pub markdown: bool,
}

/// Arguments of `util completions`.
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// bash, zsh (after compinit), fish, elvish or powershell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Arguments of `util man`.
#[derive(Debug, Args)]
pub struct ManArguments {
    /// The folder, created if absent: a page for cwm and one for each command
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}
