//! Games, each with the evaluations of its positions.

use std::iter::Peekable;
use std::path::Path;

use cwm_chess::GameRow;
use cwm_contract::Failure;
use cwm_evaluations::{Evaluation, Evaluations};

/// A game with the evaluations of its positions.
#[derive(Debug)]
pub struct LabelledGame {
    /// Its `index`.
    pub index: u64,
    /// Its name.
    pub id: String,
    /// Its moves, packed.
    pub moves: Vec<u16>,
    /// The evaluations; none where the form reads none.
    pub labels: Vec<Evaluation>,
}

impl LabelledGame {
    /// The failure of a game, with the phrase `wrong`.
    pub fn failure(&self, wrong: &str) -> Failure {
        Failure::input(format!("game {} ({:?}): {wrong}", self.index, self.id))
    }

    /// The evaluation of each position, the first and the last included.
    ///
    /// # Errors
    /// An evaluation is of another game, or of no position of this one, or there are two of a position.
    pub fn labels_by_ply(&self) -> Result<Vec<Option<&Evaluation>>, String> {
        let mut by_ply = vec![None; self.moves.len() + 1];
        for label in &self.labels {
            if label.id != self.id {
                return Err(format!("the evaluations of game {} are of {:?}: another corpus", self.index, label.id));
            }
            let ply = label.t.ok_or_else(|| format!("record {} of the evaluations has no ply", label.record))?;
            let plies = self.moves.len();
            let place = by_ply.get_mut(ply as usize);
            let place = place.ok_or_else(|| format!("an evaluation is of ply {ply}, and the game has {plies}"))?;
            if place.replace(label).is_some() {
                return Err(format!("ply {ply} is evaluated twice"));
            }
        }
        Ok(by_ply)
    }
}

/// The evaluations of games, a game at a time, in the order of the games.
pub struct Labels(Option<Peekable<Evaluations>>);

impl Labels {
    /// Opens the evaluations of a file; without one there are none.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn open(path: Option<&Path>) -> Result<Self, Failure> {
        Ok(Labels(path.map(Evaluations::open).transpose()?.map(Iterator::peekable)))
    }

    /// The game with its evaluations, which are the next in the file, if it has any.
    ///
    /// # Errors
    /// The file cannot be read, or the game carries labels of its own, since no standard replay gives them.
    pub fn of(&mut self, game: &GameRow<'_>) -> Result<LabelledGame, Failure> {
        if game.labels.is_some() {
            let message =
                format!("game {} ({:?}) is not standard chess from the initial position", game.index, game.id);
            return Err(Failure::input(message).hint("leave out `rules: authors` of `parse`, which keeps such games"));
        }
        let mut labels = Vec::new();
        if let Some(evaluations) = &mut self.0 {
            let is_next = |next: &Result<Evaluation, Failure>| {
                next.as_ref().map_or(true, |evaluation| evaluation.game == Some(game.index))
            };
            while let Some(next) = evaluations.next_if(is_next) {
                labels.push(next?);
            }
        }
        Ok(LabelledGame { index: game.index, id: game.id.to_owned(), moves: game.moves.to_vec(), labels })
    }

    /// Checks, behind the last game, that no evaluation is left.
    ///
    /// # Errors
    /// One is left: its game is not among the games.
    pub fn finish(self) -> Result<(), Failure> {
        let Some(next) = self.0.and_then(|mut evaluations| evaluations.next()) else { return Ok(()) };
        let Evaluation { record, game, id, .. } = next?;
        let Some(game) = game else {
            let message = format!("record {record} of the evaluations is of no game");
            return Err(Failure::input(message).hint("`analyse` evaluates the positions of games"));
        };
        let message =
            format!("game {game} ({id:?}) of the evaluations, record {record}, is not among the games that follow");
        Err(Failure::input(message).hint("evaluations and games must be of the same corpus, in the same order"))
    }
}
