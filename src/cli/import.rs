//! The arguments of `import`.

use std::path::PathBuf;

use clap::Args;

use super::ModelHintArguments;

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct ImportArguments {
    /// A file of torch.save (.pt, .pth) or of safetensors
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The checkpoint that is made of it
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// What is known of the model
    #[command(flatten)]
    pub hints: ModelHintArguments,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
