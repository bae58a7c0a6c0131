//! Text for people: quoted, listed, counted, timed, and made harmless for a terminal.

mod duration;
mod plain;
mod words;

pub use duration::{duration, exact_duration, format_time, parse_duration, parse_setting_duration};
pub use plain::{escape_controls, escape_controls_in_lines, strip_ansi};
pub use words::{join_some, list_some, plural, shell_quote, short_path, shorten, six_digits};
