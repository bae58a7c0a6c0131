//! Text for people: quoted, listed, counted, timed, and made harmless for a terminal.

mod duration;
mod format;
mod terminal_text;

pub use duration::{duration, exact_duration, format_time, parse_duration, parse_setting_duration};
pub use format::{join_some, list_some, plural, shell_quote, short_path, shorten, six_digits};
pub use terminal_text::{escape_controls, escape_controls_in_lines, strip_ansi};
