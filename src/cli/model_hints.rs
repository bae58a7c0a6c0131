//! Options that describe a model in a file of another program.

use clap::Args;

use super::pipeline::assignment;

/// Facts about a model in a file of another program.
#[derive(Debug, Args)]
pub struct ModelHintArguments {
    /// The family of a model from a file, where its names and shapes leave it open
    #[arg(long, value_name = "NAME")]
    pub family: Option<String>,
    /// Its size, such as d128/l1, which is checked
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// An option of its family, such as heads=2 or rope=standard (may be repeated)
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = assignment)]
    pub options: Vec<(String, String)>,
    /// The place of its parameters in the file, such as model_state_dict, if several models are in it
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// Round float64 parameters that are no float32, which are refused otherwise
    #[arg(long)]
    pub round: bool,
}

impl ModelHintArguments {
    /// Converts the options for the reader of the file.
    pub fn hints(&self) -> cwm_contract::ModelHints {
        cwm_contract::ModelHints {
            family: self.family.clone(),
            size: self.size.clone(),
            options: self.options.iter().cloned().collect(),
            key: self.key.clone(),
            round: self.round,
        }
    }
}
