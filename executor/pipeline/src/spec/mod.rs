//! The contents of a pipeline file, with places. Nothing is resolved here.

mod axes;
mod inputs;
mod pipeline;
mod stage;
mod yaml;
mod yaml_errors;

pub use axes::{AxisSpec, AxisValueSpec, bad_label};
pub use inputs::{FromSpec, InputSpec, SourceSpec};
pub use pipeline::{FORMAT, KEYS as FILE_KEYS, Spec, is_of_variable, not_of_variable, read};
pub use stage::{COMMAND, COMMAND_KEYS, KEYS as STAGE_KEYS, OutputSpec, StageSpec, is_given, is_variable};
pub use yaml::{LARGEST, parse as parse_yaml};
