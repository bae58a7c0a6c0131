//! The players of a match, their openings, and the games between them.

use std::path::Path;

use cwm_contract::{Context, Failure};
use cwm_encoding::PlainMove;
use cwm_game::StreamRng;
use cwm_matches::Game;
use cwm_models::device;
use cwm_player::Player;
use cwm_random::Random;
use shakmaty::{ByColor, Color};

use crate::config::Config;
use crate::game;
use crate::kind::Kind;
use crate::openings::Openings;
use crate::side::Side;

/// All that the games of a match need.
pub struct MatchSetup<'c> {
    context: &'c Context,
    config: &'c Config,
    openings: Openings,
    model: Option<Player>,
    other: Option<Player>,
}

impl<'c> MatchSetup<'c> {
    /// Reads the inputs.
    ///
    /// # Errors
    /// A model cannot be read or chooses no moves, or the openings are too few.
    pub fn new(context: &'c Context, config: &'c Config) -> Result<Self, Failure> {
        let open = |input: &str| {
            let checkpoint = context.optional_input(input);
            checkpoint.map(|path| Player::open(path, &device::cpu())).transpose()
        };
        Ok(MatchSetup {
            context,
            config,
            model: open("model")?,
            other: open("other")?,
            openings: Openings::draw(context, config)?,
        })
    }

    /// The model of a player of this kind, if it is a model.
    pub fn model(&self, kind: Kind) -> Option<&Player> {
        match kind {
            Kind::Model => self.model.as_ref(),
            Kind::Other => self.other.as_ref(),
            Kind::Random | Kind::Level(..) | Kind::Nodes(_) | Kind::Depth(_) => None,
        }
    }

    /// Both players ready to play, the first first. Engines are started.
    ///
    /// # Errors
    /// An engine cannot be used.
    pub fn sides(&self) -> Result<[Side<'_>; 2], Failure> {
        let engine: Option<&Path> = self.config.engine.as_ref().map(|engine| engine.0.as_path());
        let side = |kind: Kind| match self.model(kind) {
            Some(player) => Ok(Side::of_model(player, self.config)),
            None => Side::of_other(kind, engine, self.context.cancellation()),
        };
        Ok([side(self.config.first)?, side(self.config.second)?])
    }

    /// Plays the game of this number, from 0. It depends on nothing but the number, the players and the parameters.
    ///
    /// # Errors
    /// An engine fails, or the stage was cancelled.
    pub fn play(&self, number: u64, sides: &mut [Side<'_>; 2]) -> Result<Game, Failure> {
        let Config { first, second, seed, max_plies, .. } = *self.config;
        let (pair, first_white) =
            if self.config.has_both_colours() { (number / 2, number.is_multiple_of(2)) } else { (number, true) };
        let opening = self.openings.of_pair(pair)?;
        let mut random = StreamRng::new("match", &seed.to_string(), number);
        let [first_side, second_side] = sides;
        let (first_name, _) = prepare(first, first_side, &mut random)?;
        let (second_name, level) = prepare(second, second_side, &mut random)?;
        let colour = if first_white { Color::White } else { Color::Black };
        let mut sides = ByColor { white: first_side, black: second_side };
        let mut names = ByColor { white: first_name, black: second_name };
        if !first_white {
            sides = sides.into_swapped();
            names = names.into_swapped();
        }
        let played = game::play(self.context, &opening.moves, sides, max_plies, &mut random);
        let played = played.map_err(|failure| {
            let message = format!("game {number}, {}", failure.message);
            Failure { message, ..failure }
        })?;
        Ok(Game {
            game: number,
            pair,
            opening: opening.id.clone(),
            white: names.white,
            black: names.black,
            first_white,
            result: played.result().to_owned(),
            score: played.winner.map_or(0.5, |winner| if winner == colour { 1.0 } else { 0.0 }),
            plies: played.moves.len() as u32,
            end: played.end,
            illegal_attempts: played.illegal_attempts,
            level,
            moves: played.moves.iter().map(|&played| PlainMove::from(played).packed()).collect(),
        })
    }
}

/// Prepares a player for a game: its name in it, and its level, if it has one.
fn prepare(kind: Kind, side: &mut Side<'_>, random: &mut StreamRng) -> Result<(String, Option<u8>), Failure> {
    let Kind::Level(weakest, strongest) = kind else { return Ok((kind.to_string(), None)) };
    let level = weakest + random.below(u32::from(strongest - weakest) + 1) as u8;
    side.set_level(level)?;
    Ok((Kind::Level(level, level).to_string(), Some(level)))
}
