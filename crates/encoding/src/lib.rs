//! Moves as tokens, positions as 75 labels, and the replay from one to the other: what every result rests on.
//!
//! The numbers are those of the paper's own code (`docs/formats.md`, golden data of the tests). This crate uses the
//! rules of chess only through `shakmaty`; it must not depend on files, games as records, stages or models.

mod groups;
mod labels;
mod legal;
mod plain_move;
mod replay;

pub use groups::{GROUPS, LABELS, LOGITS, LabelGroup, classes, first_logit};
pub use labels::{EnPassant, labels_of};
pub use legal::{legal, legal_between};
pub use plain_move::{PAD, PlainMove, START, VOCABULARY};
pub use replay::{Replay, ReplayError, replay_into};

#[cfg(test)]
mod golden;
#[cfg(test)]
mod random_games;
