//! Makes chess games: `policy: uniform` plays random legal moves (the authors' generator, move for move, or one that
//! can use all cores), `policy: engine` plays games that look like people's, and the other policies prefer moves of one
//! kind, such as promotions. It writes PGN and must not depend on what becomes of it: no tokens, no labels, no ids but the
//! `Site` it gives each game.

mod config;
mod engine;
mod game_stats;
mod move_order;
mod probe;
mod random_game;
mod run;
mod seed;
mod uniform;
mod weighted;

pub use config::Config;
pub use run::Play;
pub use seed::Seed;

#[cfg(test)]
mod golden;
#[cfg(test)]
mod tests;
