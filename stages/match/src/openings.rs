//! Openings: the first moves of games, drawn without replacement.

use cwm_chess::Games;
use cwm_contract::{Context, Failure};
use cwm_encoding::{PlainMove, legal};
use cwm_game::{DrawRules, GameState, StreamRng};
use cwm_random::Random;
use shakmaty::{Move, Position};

use crate::config::Config;

/// The moves with which a game begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// The id of the game that they are from; empty for the initial position.
    pub id: String,
    /// The moves from the initial position.
    pub moves: Vec<Move>,
}

/// The openings that are played, one for each pair of games.
pub enum Openings {
    /// All games begin at the initial position.
    Initial(Opening),
    /// One a pair.
    Drawn(Vec<Opening>),
}

impl Openings {
    /// Draws the openings from the input `openings`, if it is given.
    ///
    /// # Errors
    /// The games cannot be read, a move is not legal, or there are too few of them.
    pub fn draw(context: &Context, config: &Config) -> Result<Self, Failure> {
        let plies = config.opening_plies as usize;
        let Some(path) = context.optional_input("openings").filter(|_| plies > 0) else {
            return Ok(Openings::Initial(Opening::default()));
        };
        let games = Games::open(path)?;
        let mut openings = Vec::new();
        for game in games.iter() {
            context.check_cancelled()?;
            let game = game?;
            let game = game.row();
            if let Some(moves) = opening(game.moves, plies).map_err(|ply| {
                Failure::input(format!("move {ply} of game {} ({:?}) is not legal", game.index, game.id))
                    .hint("games by other rules than standard chess cannot be openings")
            })? {
                openings.push(Opening { id: game.id.to_owned(), moves });
            }
        }
        let pairs = config.pairs();
        if (openings.len() as u64) < pairs {
            let (found, wanted) = (openings.len(), config.games);
            let most = if config.has_both_colours() { 2 * found } else { found };
            let fewer = if most > 0 { format!("lower `games` to {most}, ") } else { String::new() };
            return Err(Failure::input(format!(
                "`games: {wanted}` needs {pairs} openings, and {found} of the {} games in `openings` are longer than \
                 `opening_plies: {plies}`",
                games.len()
            ))
            .hint(format!("{fewer}shorten `opening_plies`, or give more games")));
        }
        StreamRng::new("match openings", &config.seed.to_string(), 0).shuffle(&mut openings);
        openings.truncate(pairs as usize);
        Ok(Openings::Drawn(openings))
    }

    /// The opening of a pair of games.
    ///
    /// # Errors
    /// There is no such pair.
    pub fn of_pair(&self, pair: u64) -> Result<&Opening, Failure> {
        match self {
            Openings::Initial(initial) => Ok(initial),
            Openings::Drawn(openings) => usize::try_from(pair)
                .ok()
                .and_then(|pair| openings.get(pair))
                .ok_or_else(|| Failure::internal(format!("pair {pair} has no opening"))),
        }
    }
}

/// The first moves of a game, if it has so many and can go on after them. The error is the number of the first illegal move.
fn opening(packed: &[u16], plies: usize) -> Result<Option<Vec<Move>>, usize> {
    let Some(packed) = packed.get(..plies) else { return Ok(None) };
    let mut state = GameState::new();
    let mut moves = Vec::with_capacity(plies);
    for (ply, &packed) in packed.iter().enumerate() {
        let plain = PlainMove::from_packed(packed).ok_or(ply + 1)?;
        let played = legal(state.position(), plain).ok_or(ply + 1)?;
        state.play(played);
        moves.push(played);
    }
    let is_over = state.ending(&state.position().legal_moves(), DrawRules::OnBoard).is_some();
    Ok((!is_over).then_some(moves))
}
