//! Games through a model, position by position.

mod decomposed;

use super::{LABELS, LOGITS, MicroBatch, PositionScore};
use crate::ops::implementation::is_decomposed;
use crate::{DeviceWeights, ForwardPass, Network};

/// Scores of all real positions of each game of `games`, in its order.
pub fn score(network: &Network, device_weights: &DeviceWeights<'_>, games: &MicroBatch) -> Vec<Vec<PositionScore>> {
    let logits = network.flat_logits(&ForwardPass::evaluation(device_weights), &games.tokens);
    let labels = &games.targets.labels;
    if is_decomposed(&logits.device()) {
        let scores = decomposed::scores(&logits, labels);
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
