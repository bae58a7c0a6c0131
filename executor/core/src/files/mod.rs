//! Files on disk: durable writes, regular files and pipes, what the file system says about them, and errors with a path.

pub mod durable;
mod error;
mod pipes;
mod regular;
mod stat;
mod store_folder;

pub use error::{Result, StoreError, Trouble};
pub use pipes::{is_read_once, lasting_name, read as read_pipe};
pub use regular::{read_beside, read_plain};
pub use stat::Stat;
pub use store_folder::{EXPORT_LIST, STORE_FOLDERS, exported_files, is_store};
