//! What a stage of a cwm pipeline is, and nothing else.
//!
//! A stage is a pure function of the bytes it reads, its parameters and its own code. It never sees the
//! store or the YAML: it is handed files to read, folders to write into, and its share of the machine, and it
//! gives back files. The executor (the root package) and the stages (`stages/*`) meet only here.
//!
//! This crate holds no code that makes output bytes. It is therefore not part of any stage's code fingerprint;
//! [`CONTRACT_VERSION`] is, and is raised on purpose.

pub mod amount;
mod analyst;
mod context;
mod device;
mod failure;
mod fetch;
mod format;
mod inspector;
mod label;
mod models;
mod parameters;
mod ports;
mod probe;
pub mod provenance;
mod source_files;
mod stage;
pub mod testing;
mod value;
mod workbench;

pub use analyst::{Analyst, AnswerForm, Answered, Artifact, ColumnAbout, TableAbout};
pub use context::{Cancellation, Context, Event, GroupInput, Reporter, Resources, Task};
pub use device::{DeviceAbout, DeviceChoice};
pub use failure::{Failure, FailureKind};
pub use fetch::{Brought, Expected, Fetch, Fetched, Origin};
pub use format::Format;
pub use inspector::{Description, Detail, Expansion, Form, Inspector, Point, Target};
pub use label::Label;
pub use models::{Belief, Doubt, Misbelief, ModelHints, Played, Seen, StateItem, TrackRequest, Tracked};
pub use parameters::{
    Bytes, Fault, OneOrMany, Parameter, ParameterSpec, Parameters, Secret, SourceFile, SourceLocation, Type,
};
pub use ports::{Count, Input, Output, Shape};
pub use probe::{Given, Probed, Probing};
pub use source_files::SourceFiles;
pub use stage::{Needs, Stage, Work};
pub use value::{Value, Values};
pub use workbench::{Comparison, Difference, ParityRequest, Quantity, Workbench};

/// Version of the contract between executor and stages; part of every action's key.
///
/// Raise it when the meaning of anything in this crate changes in a way that can change what a stage writes.
pub const CONTRACT_VERSION: u32 = 1;
