//! `cwm model`: imports, tests and follows models, and lists devices for them.

pub mod checkpoint;
pub mod devices;
pub mod import;
pub mod parity;
pub mod track;
