//! Compares rows of predictions with the labels.

use std::ops::Range;

use cwm_chess::Dataset;
use cwm_contract::Failure;
use cwm_encoding::{EnPassant, LABELS};
use cwm_models::worker_pool::WorkerPool;

use super::slots::Slots;
use super::table::Rows;
use crate::boards::{WrongLabels, wrong_labels};
use crate::scores::Score;

/// Games that one core scores before it takes more.
const GAMES: usize = 32;

/// Puts the scores of rows into the slots of their positions.
pub struct PredictionScorer<'a> {
    pub dataset: &'a Dataset,
    pub en_passant: EnPassant,
    pub workers: &'a WorkerPool,
    pub slots: &'a Slots,
    /// The wrong labels in each position of the games that become boards, which are the first ones.
    pub wrong_by_game: &'a mut [Vec<WrongLabels>],
}

impl PredictionScorer<'_> {
    /// Scores rows of any games in any order.
    ///
    /// # Errors
    /// A row is of no position of its game, or of one that another row was of; the dataset is damaged, or an operation
    /// on the disk fails.
    pub fn add(&mut self, rows: &Rows) -> Result<(), Failure> {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&row| (rows.games[row], rows.t[row]));
        let runs: Vec<&[usize]> = order.chunk_by(|&a, &b| rows.games[a] == rows.games[b]).collect();
        let parts: Vec<&[&[usize]]> = runs.chunks(GAMES).collect();
        let scored = self.workers.map(parts.len(), |part| {
            parts[part].iter().map(|run| self.score(rows, run)).collect::<Result<Vec<_>, Failure>>()
        });
        for (part, scores) in parts.iter().zip(scored) {
            for (run, (scores, wrong)) in part.iter().zip(scores?) {
                self.store(rows, run, &scores)?;
                if let Some(wrong_by_game) = self.wrong_by_game.get_mut(rows.games[run[0]] as usize) {
                    run.iter().zip(wrong).for_each(|(&row, wrong)| wrong_by_game[rows.t[row] as usize] = wrong);
                }
            }
        }
        Ok(())
    }

    /// The scores of rows of one game, and the wrong labels of each if it becomes a board.
    fn score(&self, rows: &Rows, run: &[usize]) -> Result<(Vec<Score>, Vec<WrongLabels>), Failure> {
        let game = rows.games[run[0]];
        let positions = self.slots.positions(game);
        if let Some(&row) = run.iter().find(|&&row| rows.t[row] >= positions) {
            return Err(Failure::input(format!(
                "row {} of the predictions is of t = {} of {}, which has {positions} positions, counted from 0",
                rows.number(row),
                rows.t[row],
                self.game_name(game)?
            )));
        }
        let mut labels = vec![0; positions as usize * LABELS];
        self.dataset
            .labels_into(game as usize, self.en_passant, &mut labels)
            .map_err(|error| error.failure("games"))?;
        let pair = |row: usize| {
            let wanted = &labels[rows.t[row] as usize * LABELS..][..LABELS];
            (&rows.labels[row * LABELS..][..LABELS], wanted)
        };
        let score = |&row: &usize| {
            let (predicted, wanted) = pair(row);
            let right = (0..LABELS).filter(|&label| predicted[label] == wanted[label]);
            Score {
                right: right.fold(0, |right, label| right | 1 << label),
                loss: rows.loss.as_ref().map(|loss| loss[row]),
            }
        };
        let is_board = (game as usize) < self.wrong_by_game.len();
        let seen = if is_board { run } else { &[] };
        let wrong =
            seen.iter().map(|&row| pair(row)).map(|(predicted, wanted)| wrong_labels(predicted, wanted)).collect();
        Ok((run.iter().map(score).collect(), wrong))
    }

    /// Puts the scores of rows of one game, sorted by position, where they belong: a stretch of positions at a time.
    fn store(&self, rows: &Rows, run: &[usize], scores: &[Score]) -> Result<(), Failure> {
        let game = rows.games[run[0]];
        let twice = |row: usize| -> Result<(), Failure> {
            Err(Failure::input(format!(
                "row {} of the predictions is of t = {} of {}, of which there was a row before",
                rows.number(row),
                rows.t[row],
                self.game_name(game)?
            )))
        };
        let mut begin = 0;
        for stretch in run.chunk_by(|&a, &b| rows.t[a] + 1 == rows.t[b]) {
            let at: Range<usize> = begin..begin + stretch.len();
            begin = at.end;
            // Rows of one position lie in different stretches: the second finds the slot taken.
            if let Some(t) = self.slots.fill(game, rows.t[stretch[0]], &scores[at])? {
                return twice(stretch[(t - rows.t[stretch[0]]) as usize]);
            }
        }
        Ok(())
    }

    fn game_name(&self, game: u32) -> Result<String, Failure> {
        let id = self.dataset.get(game as usize)?.map(|game| game.row().id.to_owned()).unwrap_or_default();
        Ok(format!("game {game} ({id})"))
    }
}
