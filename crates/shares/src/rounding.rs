//! Shares as whole numbers.

/// Splits `total` in proportion to `shares`, which are not negative and together 1: each gets its whole part, and those
/// with the largest remainders (the first of equals) one more.
pub fn largest_remainders(shares: &[f64], total: usize) -> Vec<usize> {
    let wanted: Vec<f64> = shares.iter().map(|share| share * total as f64).collect();
    let mut counts: Vec<usize> = wanted.iter().map(|wanted| *wanted as usize).collect();
    let mut order: Vec<usize> = (0..shares.len()).filter(|&at| shares[at] > 0.).collect();
    order.sort_by(|&a, &b| wanted[b].fract().total_cmp(&wanted[a].fract()));
    let left = total.saturating_sub(counts.iter().sum());
    for at in order.into_iter().take(left) {
        counts[at] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_largest_remainders_get_one_more() {
        assert_eq!(largest_remainders(&[0.5, 0.25, 0.25], 5), [3, 1, 1]);
        assert_eq!(largest_remainders(&[0.1, 0.3, 0.3, 0.15, 0.15], 11), [1, 3, 3, 2, 2]);
        assert_eq!(largest_remainders(&[0., 1.], 3), [0, 3]);
        assert_eq!(largest_remainders(&[], 3), [0; 0]);
    }

    proptest! {
        #[test]
        fn counts_are_near_their_shares(weights in proptest::collection::vec(0_u32..50, 1..9), total in 0_usize..5_000) {
            let sum: u32 = weights.iter().sum();
            prop_assume!(sum > 0);
            let shares: Vec<f64> = weights.iter().map(|weight| f64::from(*weight) / f64::from(sum)).collect();
            let counts = largest_remainders(&shares, total);
            prop_assert_eq!(counts.iter().sum::<usize>(), total);
            for (count, share) in counts.iter().zip(shares) {
                prop_assert!((*count as f64 - share * total as f64).abs() < 1. + 1e-9);
            }
        }
    }
}
