//! Counts of the predictions of linear probes on test games.

use cwm_contract::{Context, Failure};
use cwm_inside::linear_probe::{Counts, LinearProbe, Predictions, SQUARES};
use cwm_models::worker_pool::WorkerPool;

use crate::boards::Boards;
use crate::inputs::Inputs;

/// Rows that are read at once.
const CHUNK: usize = 1_024;

/// Counts of one linear probe on test games.
#[derive(Clone, Debug, Default)]
pub struct LinearProbeCounts {
    /// The counts of each game.
    pub games: Vec<Counts>,
    /// The counts of each square: rows that are right, with a piece, and with a piece and right.
    pub squares: Vec<[u64; 3]>,
}

impl LinearProbeCounts {
    /// The counts of predictions [rows, 64] of rows with these classes.
    pub fn of(boards: &Boards, labels: &[u8], predictions: &Predictions) -> Self {
        let mut squares = vec![[0; 3]; SQUARES];
        let games = boards.games().map(|rows| {
            let mut counts = Counts::default();
            for row in rows {
                let of = row * SQUARES..(row + 1) * SQUARES;
                let (labels, predicted) = (&labels[of.clone()], &predictions.classes[of]);
                counts.add_row(labels, predicted, predictions.losses[row]);
                for ((square, label), predicted) in squares.iter_mut().zip(labels).zip(predicted) {
                    let (is_right, is_piece) = (label == predicted, *label != 0);
                    let counted = [is_right, is_piece, is_right && is_piece];
                    square.iter_mut().zip(counted).for_each(|(count, counted)| *count += u64::from(counted));
                }
            }
            counts
        });
        LinearProbeCounts { games: games.collect(), squares }
    }

    /// The counts of all games.
    pub fn all(&self) -> Counts {
        let mut all = Counts::default();
        self.games.iter().for_each(|game| all.add(game));
        all
    }
}

/// Predicts the boards of test rows with the linear probe of each layer, and counts.
///
/// # Errors
/// The stage was cancelled.
pub fn measure(
    context: &Context,
    workers: &WorkerPool,
    layers: &[(&LinearProbe, Inputs<'_>)],
    boards: &Boards,
    labels: &[u8],
) -> Result<Vec<LinearProbeCounts>, Failure> {
    let chunks = boards.len().div_ceil(CHUNK);
    let mut measured = Vec::with_capacity(layers.len());
    // One layer after the other: predictions of all of them would take much memory where there are many rows.
    for (probe, inputs) in layers {
        let read = workers.map(chunks, |chunk| {
            context.check_cancelled()?;
            let rows = chunk * CHUNK..((chunk + 1) * CHUNK).min(boards.len());
            let mut x = Vec::new();
            inputs.read(rows.clone(), &mut x);
            Ok::<_, Failure>(probe.predict(&x, &labels[rows.start * SQUARES..rows.end * SQUARES]))
        });
        let mut whole = Predictions::default();
        for part in read {
            let part = part?;
            whole.classes.extend_from_slice(&part.classes);
            whole.losses.extend_from_slice(&part.losses);
        }
        measured.push(LinearProbeCounts::of(boards, labels, &whole));
    }
    Ok(measured)
}
