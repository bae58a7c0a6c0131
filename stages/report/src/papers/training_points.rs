//! The points of a training curve.

use cwm_page::Point;

/// Points of a training curve at most; between them losses are averaged.
const TRAINING_POINTS: usize = 120;

/// Means over equal stretches, each at its last step. A loss that is not finite makes its stretch so.
pub(crate) fn averaged(losses: &[(u64, f64)]) -> Vec<Point> {
    let stretch = losses.len().div_ceil(TRAINING_POINTS).max(1);
    let point = |part: &[(u64, f64)]| {
        let mean = part.iter().map(|(_, loss)| loss).sum::<f64>() / part.len() as f64;
        let step = part.last().map_or(0, |(step, _)| *step);
        Point { x: step as f64, y: mean, range: None, note: String::new() }
    };
    losses.chunks(stretch).map(point).collect()
}
