//! The predictions of a few games, for the page's board view.
//!
//! `read` checks the files, `name` names models and test sets, `embed` chooses what goes on the page and
//! writes it as the view's script reads it. Only the script interprets labels.

mod embed;
mod name;
mod pack;
mod read;

pub(crate) use embed::embed;
pub(crate) use read::read;

/// The anchor of the view's section.
pub(crate) const ANCHOR: &str = "boards";
