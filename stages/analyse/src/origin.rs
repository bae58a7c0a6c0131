//! The positions of a run: those of games, or positions placed by chance.

use std::collections::BTreeMap;
use std::ops::Range;

use cwm_chess::Games;
use cwm_contract::{Context, Failure};
use shakmaty::Chess;

use crate::config::Config;
use crate::draw::{Plies, draw};
use crate::place::place;
use crate::positions::{GamePositions, Selection};

/// All positions of a run, in units that are evaluated one after the other.
pub enum Origin {
    /// A unit is a game.
    Games(Box<GamePositionSource>),
    /// A unit is a position.
    SetUp(Vec<Chess>),
}

/// Positions of games.
pub struct GamePositionSource {
    /// All games.
    pub games: Games,
    /// The number of them that are evaluated.
    count: usize,
    selection: Selection,
    /// The plies of each game that were drawn, if any are.
    drawn: Option<Plies>,
}

/// Counts of positions, made before the first is evaluated.
pub struct OriginCounts {
    /// Positions that are evaluated.
    pub total: u64,
    /// Positions without a legal move.
    pub game_over: u64,
    /// Positions that are dropped, by reason.
    pub dropped: BTreeMap<&'static str, u64>,
}

impl Origin {
    /// Opens the games, or places positions, as the parameters require.
    ///
    /// # Errors
    /// A game cannot be read, the positions that are wanted are not there, or the stage was cancelled.
    pub fn open(context: &Context, config: &Config) -> Result<(Self, OriginCounts), Failure> {
        if let Some(number) = config.place {
            let mut placed = place(context, config, number)?;
            let game_over = placed.dropped.remove("game_over").unwrap_or_default();
            return Ok((
                Origin::SetUp(placed.positions),
                OriginCounts { total: number, game_over, dropped: placed.dropped },
            ));
        }
        let games = Games::open(context.input("games")?)?;
        let limit = config.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let (count, selection) = (games.len().min(limit), Selection::of(config));
        let mut seen = GamePositions::default();
        let (drawn, total) = if config.draws() {
            let drawn = draw(context, &games, count, &selection, config, &mut seen)?;
            let total = drawn.iter().map(|plies| plies.len() as u64).sum();
            (Some(drawn), total)
        } else {
            let mut total = 0;
            for game in games.iter().take(count) {
                context.check_cancelled()?;
                let selected = selection.of_game(&game?.row())?;
                total += selected.positions.len() as u64;
                seen.add(selected);
            }
            (None, total)
        };
        if total == 0 {
            let game_over = seen.game_over;
            let message =
                format!("no position of {count} games is evaluated; in {game_over} of those chosen the game has ended");
            return Err(Failure::input(message).hint("lower `from_ply` or `min_legal`, or give more or longer games"));
        }
        let found = OriginCounts { total, game_over: seen.game_over, dropped: seen.dropped };
        Ok((Origin::Games(Box::new(GamePositionSource { games, count, selection, drawn })), found))
    }

    /// The number of games, or of positions that were placed.
    pub fn len(&self) -> usize {
        match self {
            Origin::Games(of_games) => of_games.count,
            Origin::SetUp(positions) => positions.len(),
        }
    }

    /// The number of positions of these units that are evaluated.
    ///
    /// # Errors
    /// A game cannot be read.
    pub fn position_count(&self, units: Range<usize>) -> Result<u64, Failure> {
        match self {
            Origin::Games(of_games) => units.map(|game| Ok(of_games.of_game(game)?.len() as u64)).sum(),
            Origin::SetUp(_) => Ok(units.len() as u64),
        }
    }
}

impl GamePositionSource {
    /// The positions of a game that are evaluated, each with the plies before it.
    ///
    /// # Errors
    /// The game cannot be read.
    pub fn of_game(&self, index: usize) -> Result<Vec<(u32, Chess)>, Failure> {
        let game = self.games.get(index)?.ok_or_else(|| Failure::internal(format!("there is no game {index}")))?;
        let mut positions = self.selection.of_game(&game.row())?.positions;
        if let Some(drawn) = &self.drawn {
            positions.retain(|(ply, _)| drawn[index].binary_search(ply).is_ok());
        }
        Ok(positions)
    }

    /// True if the evaluation of a position with so many plies before it is written.
    pub fn is_written(&self, ply: u32) -> bool {
        self.selection.is_written(ply)
    }
}
