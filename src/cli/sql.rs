//! The arguments of `sql`.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::PipelineArguments;
use super::completers::outputs;

/// Arguments of `sql`.
#[derive(Debug, Args)]
pub struct SqlArguments {
    /// Stages, cells or outputs, such as bins or 'evaluation[test=held_out].scores'; last, the query
    #[arg(value_name = "STAGE[.PORT]... QUERY", required = true, add = ArgValueCompleter::new(outputs))]
    pub words: Vec<String>,
    /// List the tables and their columns; there is no query then
    #[arg(long)]
    pub tables: bool,
    /// One JSON object a row and line
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Comma-separated values
    #[arg(long, conflicts_with = "tables")]
    pub csv: bool,
    /// Which pipeline
    #[command(flatten)]
    pub pipeline: PipelineArguments,
}

impl SqlArguments {
    /// What is asked, and the query unless only the tables are listed.
    ///
    /// # Errors
    /// One of them is missing.
    pub fn sources_and_query(&self) -> Result<(&[String], Option<&str>), String> {
        match self.words.as_slice() {
            sources if self.tables => Ok((sources, None)),
            [sources @ .., query] if !sources.is_empty() => Ok((sources, Some(query))),
            _ => Err("a stage and a query are wanted: cwm sql STAGE 'select ...'".to_owned()),
        }
    }
}
