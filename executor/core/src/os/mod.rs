//! The functions that differ between operating systems: processes are found, adopted, waited for and measured, GPUs are counted,
//! names of files are exchanged, file systems are synced.
//!
//! Everything else of the executor uses POSIX and the standard library alone (signals, process groups, `waitid`). A port to
//! another system is one file beside `linux`, with the functions of `other`.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub use linux::*;

#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(not(target_os = "linux"))]
pub use other::*;
