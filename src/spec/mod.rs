//! What was written in a pipeline file, with places; nothing is resolved here.

mod axes;
mod inputs;
pub mod names;
pub mod node;
mod pipeline;
mod reader;
mod stage;
mod yaml;
mod yaml_fault;
mod yaml_plain;

pub use axes::{AxisSpec, AxisValueSpec, bad_label};
pub use inputs::{FromSpec, InputSpec, SourceSpec};
pub use node::{Content, Node, Word};
pub use pipeline::{FORMAT, KEYS as FILE_KEYS, Spec, is_of_variable, not_of_variable, read};
pub(crate) use reader::Reader;
pub use stage::{COMMAND, COMMAND_KEYS, KEYS as STAGE_KEYS, OutputSpec, StageSpec, is_given, is_variable};
pub use yaml::{LARGEST, parse as parse_yaml};
