//! The input files, turned into plain values; everything wrong with them is reported here.

pub(crate) mod bins;
pub(crate) mod counts;
pub(crate) mod curves;
pub(crate) mod errors;
pub(crate) mod json_lines;
mod table;
