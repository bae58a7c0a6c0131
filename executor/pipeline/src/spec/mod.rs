//! The contents of a pipeline file, with places. Nothing is resolved here.

mod inputs;
mod pipeline;
mod stage;
mod yaml;
mod yaml_errors;

pub use inputs::{InputSpec, SourceSpec};
pub use pipeline::{FORMAT, KEYS as FILE_KEYS, Spec, check_name, read, unfit_for_variable};
pub use stage::{COMMAND, COMMAND_KEYS, KEYS as STAGE_KEYS, StageSpec, is_set_by_cwm, is_variable};
pub use yaml::parse as parse_yaml;
