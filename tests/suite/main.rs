//! End to end, through the binary: one test binary, one file a subject.

mod benchmark;
mod caching;
mod checkpoints;
mod code;
mod commands;
mod context;
mod curves;
mod devices;
mod diff;
mod downloads;
mod estimates;
mod failure;
mod import;
mod inspection;
mod licences;
mod pipeline_errors;
mod processes;
mod provenance;
mod python;
mod results;
mod side_by_side;
mod small;
mod sql;
mod sweep;
mod tidy;
mod training;
