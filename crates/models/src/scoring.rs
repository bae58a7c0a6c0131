//! Games through a model, position by position.

mod composed;

use crate::batch::MicroBatch;
use crate::heads::{LABELS, LOGITS};
use crate::metrics::PositionScore;
use crate::ops::form::is_composed;
use crate::{Network, Pass, Placed};

/// Scores of all real positions of each game of `games`, in its order.
pub fn score(network: &Network, placed: &Placed<'_>, games: &MicroBatch) -> Vec<Vec<PositionScore>> {
    let logits = network.flat_logits(&Pass::evaluation(placed), &games.tokens);
    let labels = &games.targets.labels;
    if is_composed(&logits.device()) {
        let scores = composed::scores(&logits, labels);
        return by_game(games, |row| scores[row]);
    }
    let logits = logits.into_data();
    let logits = logits.as_slice::<f32>().expect("logits are f32 and contiguous");
    by_game(games, |row| {
        PositionScore::new(&logits[row * LOGITS..(row + 1) * LOGITS], &labels[row * LABELS..(row + 1) * LABELS])
    })
}

/// The scores of real positions alone.
fn by_game(games: &MicroBatch, of_row: impl Fn(usize) -> PositionScore) -> Vec<Vec<PositionScore>> {
    let time = games.tokens.time();
    let of_game = |(game, &length): (usize, &usize)| (game * time..game * time + length).map(&of_row).collect();
    games.tokens.lengths().iter().enumerate().map(of_game).collect()
}
