//! Text for people: escaped for terminals, quoted for shells, numbers and durations in words.

mod shell;
mod terminal;
mod words;

pub use shell::shell_quote;
pub use terminal::{as_shown, is_hidden, visible, visible_lines};
pub use words::{duration, plural, short_path};
