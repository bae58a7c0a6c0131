//! The arguments of `completions`.

use clap::{Args, ValueEnum};

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// For which shell
    #[arg(value_enum)]
    pub shell: Shell,
    /// As JSON: the script as text
    #[arg(long)]
    pub json: bool,
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
