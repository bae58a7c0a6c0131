//! The history that records hold: how two runs differ, and where the numbers of an exported report come from.

pub mod diff;
pub mod provenance;
