//! Text for people: quoted, listed, counted, timed, and made harmless for a terminal.

mod duration;
mod plain;
mod shell;
mod words;

pub use duration::{duration, exact_duration, parse_duration};
pub use plain::{as_shown, is_hidden, visible, visible_lines};
pub use shell::shell_quote;
pub use words::{list_some, plural, short_path};
