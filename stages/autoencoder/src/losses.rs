//! The loss of the model's outputs: of the next words of a game, or of the labels of its positions.

use cwm_contract::Failure;
use cwm_encoding::{EnPassant, LABELS, LOGITS};
use cwm_inside::{ModelTask, TokenizedGame};
use cwm_models::heads::choice::Score;
use cwm_models::heads::labels::PositionScore;

use crate::games::Games;

/// A game of the test set: what the model reads, and what it should answer.
pub struct TestGame {
    tokens: Vec<u16>,
    targets: Targets,
}

enum Targets {
    /// The next word after each but the last.
    Words,
    /// 75 labels after each token.
    Labels(Vec<u8>),
}

/// A sum of cross-entropies, and of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LossSum {
    /// The sum, in nats.
    pub sum: f64,
    /// Words or labels.
    pub count: u64,
}

impl LossSum {
    /// Adds another.
    pub fn add(&mut self, other: LossSum) {
        self.sum += other.sum;
        self.count += other.count;
    }

    /// The mean.
    pub fn mean(self) -> f64 {
        self.sum / self.count.max(1) as f64
    }
}

impl TestGame {
    /// A game with what the model reads of it.
    ///
    /// # Errors
    /// The input is damaged, or the game's moves are not legal.
    pub fn new(games: &Games, game: usize, task: ModelTask, reading: TokenizedGame) -> Result<Self, Failure> {
        let targets = match task {
            ModelTask::Moves => Targets::Words,
            ModelTask::State => {
                let whole = games.dataset.tokens(game)?.unwrap_or_default().len();
                let mut labels = vec![0; whole * LABELS];
                let labelled = games.dataset.labels_into(game, EnPassant::Always, &mut labels);
                labelled.map_err(|error| error.failure("test"))?;
                labels.truncate(reading.len() * LABELS);
                Targets::Labels(labels)
            }
        };
        Ok(TestGame { tokens: reading.tokens, targets })
    }

    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Number of tokens, the first ones, after which there is an answer.
    pub fn answers(&self) -> usize {
        match self.targets {
            Targets::Words => self.tokens.len().saturating_sub(1),
            Targets::Labels(_) => self.tokens.len(),
        }
    }

    /// The loss of the logits after these tokens.
    pub fn loss(&self, logits: &[f32]) -> LossSum {
        match &self.targets {
            Targets::Words => {
                let rows = logits.chunks_exact(logits.len() / self.answers().max(1)).zip(&self.tokens[1..]);
                let sum = rows.map(|(row, &next)| Score::new(row, usize::from(next)).loss).sum();
                LossSum { sum, count: self.answers() as u64 }
            }
            Targets::Labels(labels) => {
                let rows = logits.chunks_exact(LOGITS).zip(labels.chunks_exact(LABELS));
                let sum = rows.map(|(row, labels)| PositionScore::new(row, labels).loss_sum).sum();
                LossSum { sum, count: labels.len() as u64 }
            }
        }
    }
}

impl AsRef<[u16]> for TestGame {
    fn as_ref(&self) -> &[u16] {
        &self.tokens
    }
}
