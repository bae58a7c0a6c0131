//! A trained model as a player: the tokens that it reads of a game, and the moves that it answers with.
//!
//! It opens checkpoints of `learn` of any family and any form in which moves are answered. This crate must not depend on
//! files of games, opponents, or what its answers are for.

mod answer;
mod form;
mod game;
mod likelihood;
mod play;
mod player;
mod question;
mod read;
mod rules;
pub mod sample;

pub use answer::PlayerAnswer;
pub use form::{Form, vocabulary};
pub use game::GamePrefix;
pub use play::SampledAnswer;
pub use player::Player;
pub use question::{AnswerError, Question};
pub use rules::{ChosenMove, PlayRules};

#[cfg(test)]
mod tests;
