//! Games that look like people's: known openings that repeat, captures that make sense, castling, promotions, mates,
//! resignations. The players search a little, choose with some chance among the moves they think good, and overlook
//! things, the more the lower their rating. Everything is whole numbers, so that games are the same on every machine.

mod evaluation;
mod game;
mod openings;
mod player;
mod search;

pub use game::{EngineGame, Finish, Rules, play};
pub use openings::Openings;
