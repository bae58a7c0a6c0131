//! Arguments of the commands for the program itself.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `init`.
#[derive(Debug, Args)]
pub struct InitArguments {
    /// Where to, made if absent
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
    /// For which shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Shells that words can be completed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// source <(cwm completions bash)
    Bash,
    /// source <(cwm completions zsh), after compinit
    Zsh,
    /// cwm completions fish | source
    Fish,
    /// eval (cwm completions elvish | slurp)
    Elvish,
    /// cwm completions powershell | Out-String | Invoke-Expression
    Powershell,
}

impl Shell {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Shell::Bash => "bash",
            Shell::Zsh => "zsh",
            Shell::Fish => "fish",
            Shell::Elvish => "elvish",
            Shell::Powershell => "powershell",
        }
    }
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub struct ManArguments {
    /// Where to, made if absent: a page for cwm and one for each command
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}
