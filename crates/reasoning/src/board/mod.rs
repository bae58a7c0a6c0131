//! A position as text, in four forms, and back.

mod form;
mod reading;

pub use form::{BoardForm, board_text};
pub use reading::board_from_text;

#[cfg(test)]
mod tests;
