//! The contract between the executor and the stages of a cwm pipeline.
//!
//! A stage is a pure function of the bytes it reads, its parameters and its own code. It never sees the
//! store or the YAML: it is handed files to read, folders to write into, and its share of the machine, and it
//! gives back files. The executor (the root package) and the stages (`stages/*`) meet only here.
//!
//! This crate holds no code that makes output bytes. It is therefore not part of any stage's code fingerprint;
//! [`CONTRACT_VERSION`] is, and is raised on purpose.

pub mod amount;
mod atomic_file;
mod context;
mod declarations;
mod device;
mod failure;
mod fetch;
mod format;
mod hidden;
mod inspector;
mod label;
mod model_tools;
mod models;
mod parameters;
mod parity;
mod probe;
pub mod provenance;
mod query_engine;
mod reward_server;
mod source_files;
mod stage;
pub mod testing;
mod value;

pub use atomic_file::write_atomically;
pub use context::{Cancellation, Context, Event, GroupInput, Invocation, Reporter, Resources};
pub use declarations::{Count, Input, Output, Shape};
pub use device::{DeviceChoice, DeviceInfo};
pub use failure::{Failure, FailureKind};
pub use fetch::{ExpectedChecksum, ExternalSource, FetchRequest, FetchResult, Origin};
pub use format::Format;
pub use hidden::{escape_characters, is_hidden};
pub use inspector::{CurvePoint, DescribeOptions, Description, ExportFormat, ExportOptions, ExportTarget, Inspector};
pub use label::Label;
pub use model_tools::ModelTools;
pub use models::{ModelHints, TrackReport, TrackRequest, UciRequest};
pub use parameters::{
    Bytes, OneOrMany, Parameter, ParameterError, ParameterSpec, Parameters, Secret, SourceFile, SourceLocation, Type,
};
pub use parity::{Comparison, Difference, ParityOutcome, ParityRequest, Quantity};
pub use probe::{ProbeContext, ProbeInput, ProbeOutput};
pub use query_engine::{ColumnSchema, QueryEngine, QueryOutput, QuerySummary, StoredOutput, TableSchema};
pub use reward_server::{RewardRequest, RewardServer};
pub use source_files::SourceFiles;
pub use stage::{Needs, Stage, Work};
pub use value::{Value, Values};

/// Version of the contract between executor and stages; part of every action's key.
///
/// Raise it when the meaning of anything in this crate changes in a way that can change what a stage writes.
pub const CONTRACT_VERSION: u32 = 1;
