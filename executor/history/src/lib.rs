//! The history in records: the differences of two runs, and the provenance of the numbers in an exported report.

pub mod diff;
pub mod provenance;
