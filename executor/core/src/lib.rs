//! The vocabulary of the executor: digests, keys, errors with exit codes, located text, durable writes.
//!
//! Every other crate of the executor uses these words. This crate depends on neither pipelines nor the store;
//! what differs between operating systems is in [`os`].

mod backoff;
mod diagnostics;
mod digest;
mod error;
mod exit_code;
pub mod files;
mod key;
pub mod located;
mod lock_mutex;
mod names;
pub mod os;
mod registry;
mod text;

pub use backoff::Backoff;
pub use diagnostics::{Diagnostic, Diagnostics, Place, SourceText, SourceTexts};
pub use digest::{Digest, Key, OutputDigests};
pub use error::{Error, ErrorKind, Result};
pub use exit_code::ExitCode;
pub use files::{DurableFs, FileError, FileErrorKind, Stat, folder_of, read_regular_file};
pub use key::{CanonicalBytes, Components, KEY_FORMAT};
pub use located::{Content, Node, Problems, SpannedStr};
pub use lock_mutex::lock_mutex;
pub use names::{NAME_RULE, is_label, is_name, list_names, nearest, suggest};
pub use registry::{CodeOf, Registry};
pub use text::{
    duration, escape_controls, escape_controls_in_lines, exact_duration, format_time, join_some, list_some,
    parse_duration, parse_setting_duration, plural, shell_quote, short_path, shorten, six_digits, strip_ansi,
};
