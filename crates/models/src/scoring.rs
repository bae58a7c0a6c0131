//! Games through a model, position by position.

use crate::batch::MicroBatch;
use crate::heads::{LABELS, LOGITS};
use crate::metrics::PositionScore;
use crate::{Network, Pass, Placed};

/// Scores of all real positions of each game of `games`, in its order.
pub fn score(network: &Network, placed: &Placed<'_>, games: &MicroBatch) -> Vec<Vec<PositionScore>> {
    let logits = network.flat_logits(&Pass::evaluation(placed), &games.tokens).into_data();
    let logits = logits.as_slice::<f32>().expect("logits are f32 and contiguous");
    let time = games.tokens.time();
    let labels = &games.targets.labels;
    let of_row = |row: usize| {
        PositionScore::new(&logits[row * LOGITS..(row + 1) * LOGITS], &labels[row * LABELS..(row + 1) * LABELS])
    };
    let of_game = |(game, &length): (usize, &usize)| (game * time..game * time + length).map(of_row).collect();
    games.tokens.lengths().iter().enumerate().map(of_game).collect()
}
