//! `cwm util`: prints or writes what describes the program to editors, shells and people.

pub mod completions;
pub mod man;
pub mod schema;
