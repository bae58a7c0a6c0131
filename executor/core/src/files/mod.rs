//! Files on disk: durable writes, regular files and pipes, their metadata, and errors with a path.

mod durable;
mod error;
mod json;
mod pipes;
mod regular;
mod resolve;
mod stat;
mod store_folder;
mod tail;

pub use durable::{DurableFs, Hook, Step, TEMPORARY, TemporaryPath, allow_changes, folder_of};
pub use error::{FileError, FileErrorKind, Result};
pub use json::{from_json, to_json};
pub use pipes::{is_device, is_stream, path_of_descriptor};
pub use regular::{read_project_file, read_regular_file};
pub use resolve::resolve;
pub use stat::Stat;
pub use store_folder::{EXPORT_LIST, STORE_FOLDERS, exported_files, is_store};
pub use tail::Tail;
