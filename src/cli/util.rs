//! Arguments of the commands for the program itself: `cwm util`.

use std::path::PathBuf;

use clap::Subcommand;
use clap_complete::Shell;

/// The commands for the program itself.
#[derive(Debug, Subcommand)]
pub enum UtilCommand {
    /// Print the schema of pipeline files
    ///
    /// JSON Schema, for editors; with --markdown, a page of all stages and parameters.
    Schema {
        /// A Markdown page of all keys, stages and parameters
        #[arg(long)]
        markdown: bool,
    },
    /// Print a shell's completion script
    ///
    /// It completes commands, options, and the stages and cells of the pipeline. Examples: `source <(cwm util completions bash)`,
    /// `cwm util completions fish | source`, `eval (cwm util completions elvish | slurp)`,
    /// `cwm util completions powershell | Out-String | Invoke-Expression`.
    Completions {
        /// bash, zsh (after compinit), fish, elvish or powershell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Write manual pages
    Man {
        /// The folder, created if absent: a page for cwm and one for each command
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}
