//! Arguments of the commands for the program itself.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Arguments of `init`.
#[derive(Debug, Args)]
pub struct InitArguments {
    /// The folder, created if absent
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// A pipeline of shell commands alone, of any subject
    #[arg(long)]
    pub command: bool,
}

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub struct SchemaArguments {
    /// The same for people: a page of all keys, stages and parameters
    #[arg(long)]
    pub markdown: bool,
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell, which runs `source <(cwm completions bash)`, `source <(cwm completions zsh)` after compinit,
    /// `cwm completions fish | source`, `eval (cwm completions elvish | slurp)`, or
    /// `cwm completions powershell | Out-String | Invoke-Expression`
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub struct ManArguments {
    /// The folder, created if absent: a page for cwm and one for each command
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}
