//! The games that positions are from, in their order.

use std::path::Path;

use cwm_chess::{Game, GameColumns, Games};
use cwm_contract::Failure;
use cwm_evaluations::Evaluation;
use cwm_player::GamePrefix;
use cwm_policy::inputs::characters::MoveText;
use cwm_policy::replay::{check_position, replay};
use shakmaty::{Chess, Move};

/// A replayed game.
pub struct ReplayedGame {
    index: u64,
    id: String,
    moves: Vec<Move>,
    positions: Vec<Chess>,
    /// Characters of its text before each move, and before one that follows.
    begins: Vec<usize>,
}

/// The games of a folder, of which positions come in the same order.
pub struct GamesInOrder {
    games: Games,
    next: usize,
    current: Option<ReplayedGame>,
}

impl GamesInOrder {
    /// Opens the games of a folder.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn open(folder: &Path) -> Result<Self, Failure> {
        Ok(GamesInOrder { games: Games::open(folder)?, next: 0, current: None })
    }

    /// The game of a position, and the plies before the position.
    ///
    /// # Errors
    /// The position is of no game, or of none of these behind the game of the position before; or the game has another position
    /// there; or the folder is damaged.
    pub fn find_game(&mut self, evaluation: &Evaluation) -> Result<(&ReplayedGame, usize), Failure> {
        let Evaluation { record, game, id, t, fen, .. } = evaluation;
        let (Some(wanted), Some(t)) = (*game, *t) else {
            let message = format!("record {record} of the evaluations is of no game");
            return Err(Failure::input(message)
                .hint("`analyse` evaluates the positions of games; without games, leave out the input `games`"));
        };
        while self.current.as_ref().is_none_or(|current| current.index != wanted) {
            let Some(game) = self.games.get(self.next)? else {
                let message = format!(
                    "game {wanted} ({id:?}) of the evaluations, record {record}, is not among the games that follow"
                );
                return Err(
                    Failure::input(message).hint("evaluations and games must be of the same corpus, in the same order")
                );
            };
            self.next += 1;
            self.current = if game.row().index == wanted { Some(ReplayedGame::of(&game)?) } else { None };
        }
        let game = self.current.as_ref().ok_or_else(|| Failure::internal("a game that was found is not there"))?;
        let t = t as usize;
        let wrong = |what: String| {
            Failure::input(format!("record {record} of the evaluations, game {wanted}, ply {t}: {what}"))
        };
        if game.id != *id {
            return Err(wrong(format!("its game is {id:?}, and the games have {:?}: another corpus", game.id)));
        }
        let position = game.positions.get(t);
        let position = position.ok_or_else(|| wrong(format!("the game has {} plies", game.moves.len())))?;
        check_position(position, fen).map_err(wrong)?;
        Ok((game, t))
    }
}

impl ReplayedGame {
    fn of(game: &Game<'_, GameColumns>) -> Result<Self, Failure> {
        let row = game.row();
        let wrong = |what: String| Failure::input(format!("game {} ({:?}): {what}", row.index, row.id));
        if row.labels.is_some() {
            let failure = wrong("it is not standard chess from the initial position".to_owned());
            return Err(failure.hint("leave out `rules: authors` of `parse`, which keeps such games"));
        }
        let (mut moves, mut positions) = (Vec::new(), Vec::new());
        let done = replay(row.moves, |_, position, played| {
            positions.push(position.clone());
            moves.extend(played);
            Ok(())
        });
        done.map_err(wrong)?;
        let text = MoveText::of(moves.iter().copied());
        let mut begins: Vec<usize> = text.moves.iter().map(|place| place.start).collect();
        begins.push(MoveText::before_next(moves.iter().copied()).len());
        Ok(ReplayedGame { index: row.index, id: row.id.to_owned(), moves, positions, begins })
    }

    /// Number of characters before the move at ply `t`.
    pub fn characters_before(&self, t: usize) -> usize {
        self.begins[t]
    }

    /// The game up to ply `t`.
    pub fn until(&self, t: usize) -> GamePrefix {
        let mut game = GamePrefix::default();
        self.moves[..t].iter().for_each(|&played| game.push(played));
        game
    }
}
