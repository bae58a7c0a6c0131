//! The labels of a dataset's games: those that a game carries, else replayed from its tokens.

use cwm_contract::Failure;
use cwm_encoding::{EnPassant, LABELS, ReplayError, classes, replay_into};
use thiserror::Error;

use super::{Dataset, ShardError};

/// Checks that a game of so many positions may carry these labels: 75 bytes for each, every one a class that its label has.
///
/// # Errors
/// A class is out of range, or there are not 75 labels a position.
pub fn check(labels: &[u8], positions: usize) -> Result<(), String> {
    if labels.len() != positions * LABELS {
        return Err(format!("it carries {} bytes of labels, not {}", labels.len(), positions * LABELS));
    }
    for (position, row) in labels.as_chunks::<LABELS>().0.iter().enumerate() {
        if let Some(label) = (0..LABELS).find(|&label| usize::from(row[label]) >= CLASSES[label]) {
            let (found, classes) = (row[label], CLASSES[label]);
            return Err(format!("label {label} of its position {position} is {found}, and has {classes} classes"));
        }
    }
    Ok(())
}

/// The number of classes of each label.
const CLASSES: [usize; LABELS] = {
    let (mut all, mut label) = ([0; LABELS], 0);
    while label < LABELS {
        all[label] = classes(label);
        label += 1;
    }
    all
};

/// Labels that cannot be had.
#[derive(Debug, Error)]
pub enum GameLabelsError {
    /// The file is damaged.
    #[error(transparent)]
    Shard(#[from] ShardError),
    /// The tokens are no game.
    #[error("game {game} ({id}): {error}")]
    Replay {
        /// Its place in the dataset.
        game: usize,
        /// Its name.
        id: String,
        /// The error.
        error: ReplayError,
    },
    /// The game carries labels of another kind than are wanted.
    #[error("game {game} ({id}) carries its labels, which have the en passant square after every double push")]
    EnPassant {
        /// Its place in the dataset.
        game: usize,
        /// Its name.
        id: String,
    },
}

impl Dataset {
    /// Writes the labels of every position of the game at place `game`: `rows` is `[tokens, 75]`, row `t` the position
    /// after `t` plies. Nothing is written where there is no such game.
    ///
    /// # Errors
    /// The file is damaged; or the game carries no labels and its tokens are no game; or it carries labels, and others are
    /// wanted than [`EnPassant::Always`]; or `rows` has another size.
    pub fn labels_into(&self, game: usize, en_passant: EnPassant, rows: &mut [u8]) -> Result<(), GameLabelsError> {
        let Some(tokens) = self.tokens(game)? else { return Ok(()) };
        match self.carried_labels(game)? {
            Some(labels) if labels.len() == rows.len() && en_passant == EnPassant::Always => {
                rows.copy_from_slice(&labels);
                Ok(())
            }
            Some(_) if en_passant != EnPassant::Always => Err(GameLabelsError::EnPassant { game, id: self.id(game)? }),
            _ => match replay_into(tokens, en_passant, rows) {
                Ok(()) => Ok(()),
                Err(error) => Err(GameLabelsError::Replay { game, id: self.id(game)?, error }),
            },
        }
    }

    fn id(&self, game: usize) -> Result<String, ShardError> {
        Ok(self.get(game)?.map(|game| game.row().id.to_owned()).unwrap_or_default())
    }
}

impl GameLabelsError {
    /// Returns the error as the failure of a stage whose input `input` the dataset is.
    pub fn failure(self, input: &str) -> Failure {
        let message = format!("input `{input}`, {self}");
        match self {
            GameLabelsError::Shard(error) => error.into(),
            GameLabelsError::Replay { .. } => Failure::input(message),
            GameLabelsError::EnPassant { .. } => Failure::input(message)
                .hint("leave out `en_passant: legal`, or parse without `rules: authors`, which keeps such games"),
        }
    }
}

#[cfg(test)]
mod tests {
    use cwm_encoding::START;
    use tempfile::tempdir;

    use super::super::{DatasetRow, DatasetWriter};
    use super::*;

    #[test]
    fn carried_labels_come_first_and_are_of_one_kind() {
        let folder = tempdir().unwrap();
        let carried = [1; 2 * LABELS];
        let mut writer = DatasetWriter::create(folder.path(), 9).unwrap().labelled(true);
        for (index, tokens, labels) in
            [(0, [START, 3980], None), (1, [START, 0], Some(&carried[..])), (2, [START, 0], None)]
        {
            writer.push(DatasetRow { index, id: "cwm", tokens: &tokens, result: "*", labels }).unwrap();
        }
        writer.finish().unwrap();
        let dataset = Dataset::open(folder.path()).unwrap();
        let labels = |game, en_passant| {
            let mut rows = [0; 2 * LABELS];
            dataset.labels_into(game, en_passant, &mut rows).map(|()| rows)
        };
        let mut expected = [0; 2 * LABELS];
        replay_into(&[START, 3980], EnPassant::Always, &mut expected).unwrap();
        assert_eq!(labels(0, EnPassant::Always).unwrap(), expected);
        assert_eq!(labels(1, EnPassant::Always).unwrap(), carried);
        // e2e4 leaves a square that nobody can capture on.
        assert!(labels(0, EnPassant::Legal).unwrap() != expected);
        let failure = labels(1, EnPassant::Legal).unwrap_err().failure("train");
        assert!(failure.message.starts_with("input `train`, game 1 (cwm) carries its labels, which"), "{failure}");
        let failure = labels(2, EnPassant::Always).unwrap_err().failure("train");
        assert_eq!(failure.message, "input `train`, game 2 (cwm): token 0 (a1a1) at ply 1 is not a legal move");
        assert!(dataset.labels_into(0, EnPassant::Always, &mut [0; 3]).is_err());
        assert!(dataset.labels_into(1, EnPassant::Always, &mut [0; 3]).is_err());
    }
}
