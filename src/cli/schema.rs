//! The arguments of `schema`.

use clap::Args;

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub struct SchemaArguments {
    /// The same for people: a page of all keys, stages and parameters
    #[arg(long)]
    pub markdown: bool,
    /// As JSON Schema, which it is anyway
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
}
