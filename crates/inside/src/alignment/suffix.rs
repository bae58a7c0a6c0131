//! Pairs whose last moves are the same: equal last tokens alone make rows alike.

use super::Units;

/// Cosines of some pairs within classes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cosines {
    /// Number of pairs.
    pub pairs: u64,
    /// Number of classes that have such pairs.
    pub classes: u64,
    /// The mean cosine of such pairs of a class, averaged over these classes; 0 without pairs.
    pub mean: f64,
}

/// The pairs within classes: those whose rows have equal last moves, and the others. `suffixes` has those moves for each row.
pub fn by_suffix<S: PartialEq>(units: &Units, classes: &[Vec<u32>], suffixes: &[S]) -> [Cosines; 2] {
    let mut found = [Cosines::default(); 2];
    for rows in classes {
        let mut sums = [(0u64, 0.0f64); 2];
        for (place, &a) in rows.iter().enumerate() {
            for &b in &rows[place + 1..] {
                let (a, b) = (a as usize, b as usize);
                let (pairs, sum) = &mut sums[usize::from(suffixes[a] != suffixes[b])];
                *pairs += 1;
                *sum += units.cosine(a, b);
            }
        }
        for (found, (pairs, sum)) in found.iter_mut().zip(sums).filter(|(_, (pairs, _))| *pairs > 0) {
            found.pairs += pairs;
            found.classes += 1;
            found.mean += sum / pairs as f64;
        }
    }
    found.map(|found| Cosines { mean: found.mean / found.classes.max(1) as f64, ..found })
}
