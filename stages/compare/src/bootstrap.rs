//! The bootstrap over games: how far a mean difference would move with other games of the same kind.

use cwm_contract::Failure;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// One game: its positions, and by how much the sum of its losses differs.
pub type Pair = (u64, f64);

/// The difference of the two mean losses: the sum of all differences over the number of positions.
pub fn mean(pairs: &[Pair]) -> f64 {
    ratio(pairs.iter().copied())
}

/// The interval that holds the share `confidence` of the means of `resamples` draws of as many games, with replacement.
/// Draws depend on `seed` and the number of games alone, so models compared on the same games are drawn alike. `after` is
/// told of each resample, by its number from 1.
///
/// # Errors
/// What `after` fails with.
pub fn interval(
    pairs: &[Pair],
    confidence: f64,
    resamples: u64,
    seed: u64,
    mut after: impl FnMut(u64) -> Result<(), Failure>,
) -> Result<(f64, f64), Failure> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let count = pairs.len() as u64;
    // The high bits of a product: no draw is favoured by more than one in 2^64 / count.
    let mut draw = || ((u128::from(random.next_u64()) * u128::from(count)) >> 64) as usize;
    let mut means = Vec::with_capacity(resamples as usize);
    for resample in 1..=resamples {
        means.push(ratio((0..count).map(|_| pairs[draw()])));
        after(resample)?;
    }
    means.sort_by(f64::total_cmp);
    // From each side as many means are left out.
    let outside = ((1.0 - confidence) / 2.0 * resamples as f64).floor() as usize;
    let outside = outside.min((means.len() - 1) / 2);
    Ok((means[outside], means[means.len() - 1 - outside]))
}

fn ratio(pairs: impl Iterator<Item = Pair>) -> f64 {
    let (positions, sum) = pairs.fold((0, 0.0), |(positions, sum), pair| (positions + pair.0, sum + pair.1));
    sum / positions as f64
}
