//! Pairs whose last moves are the same: equal last tokens alone make rows alike.

use super::Units;

/// Cosines of some pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cosines {
    /// Number of pairs.
    pub pairs: u64,
    /// Their mean cosine; `None` without pairs.
    pub mean: Option<f64>,
}

/// The pairs within classes, all alike in weight: those whose rows have equal last moves, and the others. `suffixes` has those
/// moves for each row.
pub fn by_suffix<S: PartialEq>(units: &Units, classes: &[Vec<u32>], suffixes: &[S]) -> [Cosines; 2] {
    let mut sums = [(0u64, 0.0f64); 2];
    for rows in classes {
        for (place, &a) in rows.iter().enumerate() {
            for &b in &rows[place + 1..] {
                let (a, b) = (a as usize, b as usize);
                let (pairs, sum) = &mut sums[usize::from(suffixes[a] != suffixes[b])];
                *pairs += 1;
                *sum += units.cosine(a, b);
            }
        }
    }
    sums.map(|(pairs, sum)| Cosines { pairs, mean: (pairs > 0).then(|| sum / pairs as f64) })
}
