//! Counts of positions by full-move number and side to move.

use shakmaty::{Chess, Position};

use super::buckets::FullmoveShares;
use super::rounding::largest_remainders;

/// Rounds in which each margin in turn is scaled to its wanted sums.
const ROUNDS: usize = 8;

/// The wanted shares of positions. A cell is one bucket of full-move numbers and one side to move.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    /// The shares by full-move number; with none, every position is in one bucket.
    pub fullmoves: Option<FullmoveShares>,
    /// True if half of the positions have White to move; otherwise both sides are in one cell.
    pub balanced_sides: bool,
}

impl Distribution {
    /// The number of cells.
    pub fn cells(&self) -> usize {
        self.shares().len() * self.sides()
    }

    /// The cell of a position; none if its full-move number is in no bucket.
    pub fn cell(&self, position: &Chess) -> Option<usize> {
        let bucket = self.fullmoves.as_ref().map_or(Some(0), |shares| shares.bucket(position.fullmoves().get()))?;
        let side = if self.balanced_sides { usize::from(position.turn().is_black()) } else { 0 };
        Some(bucket * self.sides() + side)
    }

    /// The number of positions to draw from each cell, of `total`, and never more than are `there`. The cells with a
    /// position begin with equal weights, and raking brings these to the wanted shares.
    ///
    /// # Errors
    ///
    /// There is no position of a bucket, or of a side, that has a share.
    pub fn counts(&self, total: usize, there: &[usize]) -> Result<Vec<usize>, String> {
        let counts = largest_remainders(&self.weights(there)?, total);
        Ok(counts.into_iter().zip(there).map(|(count, there)| count.min(*there)).collect())
    }

    /// Returns the most positions of each cell by which all of them together have the wanted shares.
    ///
    /// # Errors
    ///
    /// Those of [`Distribution::counts`].
    pub fn most(&self, there: &[usize]) -> Result<Vec<usize>, String> {
        let weights = self.weights(there)?;
        // Beyond, a cell would need one more than there is.
        let bound = |(there, weight): (&usize, &f64)| ((there + 1) as f64 / weight).ceil() as usize;
        let wanted = there.iter().zip(&weights).filter(|(_, weight)| **weight > 0.);
        let largest = wanted.map(bound).min().unwrap_or(0);
        let fits = |counts: &Vec<usize>| counts.iter().zip(there).all(|(count, there)| count <= there);
        let counts = (0..=largest).rev().map(|total| largest_remainders(&weights, total)).find(fits);
        Ok(counts.unwrap_or_else(|| vec![0; there.len()]))
    }

    /// The share of each cell, by raking.
    fn weights(&self, there: &[usize]) -> Result<Vec<f64>, String> {
        let (shares, sides) = (self.shares(), self.sides());
        let bucket_of = |cell: usize| cell / sides;
        let side_of = |cell: usize| cell % sides;
        let has = |part: &dyn Fn(usize) -> bool| there.iter().enumerate().any(|(cell, count)| part(cell) && *count > 0);
        let wanted = |bucket: &usize| shares[*bucket] > 0.;
        if let Some(empty) = (0..shares.len()).filter(wanted).find(|bucket| !has(&|cell| bucket_of(cell) == *bucket)) {
            let name = self.fullmoves.as_ref().map_or("any", |shares| shares.name(empty));
            return Err(format!("no position has a full-move number of `{name}`"));
        }
        if let Some(side) = (0..sides).find(|side| !has(&|cell| side_of(cell) == *side)) {
            return Err(format!("in no position it is {}'s turn", ["White", "Black"][side]));
        }
        let mut weights: Vec<f64> = there.iter().map(|count| f64::from(u8::from(*count > 0))).collect();
        let side_shares = vec![1. / sides as f64; sides];
        for _ in 0..ROUNDS {
            scale(&mut weights, &shares, bucket_of);
            scale(&mut weights, &side_shares, side_of);
        }
        let sum: f64 = weights.iter().sum();
        Ok(weights.into_iter().map(|weight| weight / sum).collect())
    }

    fn shares(&self) -> Vec<f64> {
        self.fullmoves.as_ref().map_or_else(|| vec![1.], FullmoveShares::shares)
    }

    fn sides(&self) -> usize {
        if self.balanced_sides { 2 } else { 1 }
    }
}

/// Scales the weights of the cells of each part so that their sum is the part's share.
fn scale(weights: &mut [f64], shares: &[f64], part_of: impl Fn(usize) -> usize) {
    let mut sums = vec![0.; shares.len()];
    for (cell, weight) in weights.iter().enumerate() {
        sums[part_of(cell)] += weight;
    }
    for (cell, weight) in weights.iter_mut().enumerate() {
        let part = part_of(cell);
        if sums[part] > 0. {
            *weight *= shares[part] / sums[part];
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;

    use super::*;

    fn distribution(buckets: &[(&str, f64)], balanced_sides: bool) -> Distribution {
        let map = buckets.iter().map(|(name, share)| ((*name).to_owned(), *share)).collect();
        Distribution { fullmoves: (!buckets.is_empty()).then(|| FullmoveShares::of_map(&map).unwrap()), balanced_sides }
    }

    /// The distribution of most builders.
    fn published() -> Distribution {
        distribution(&[("0-9", 0.15), ("10-19", 0.3), ("20-29", 0.25), ("30-39", 0.2), ("40+", 0.1)], true)
    }

    #[test]
    fn a_cell_is_a_bucket_and_a_side() {
        let at = |fullmove, side| -> Chess {
            let fen: Fen = format!("4k3/8/8/8/8/8/8/R3K3 {side} - - 0 {fullmove}").parse().unwrap();
            fen.into_position(CastlingMode::Standard).unwrap()
        };
        let distribution = published();
        assert_eq!(distribution.cells(), 10);
        assert_eq!(
            [(1, "w"), (9, "b"), (25, "b"), (300, "w")].map(|(f, side)| distribution.cell(&at(f, side))),
            [Some(0), Some(1), Some(5), Some(8)]
        );
        assert_eq!(distribution_of_early().cell(&at(10, "w")), None);
        assert_eq!(Distribution::default().cell(&at(10, "b")), Some(0));
    }

    fn distribution_of_early() -> Distribution {
        distribution(&[("0-9", 1.)], false)
    }

    #[test]
    fn where_every_cell_is_full_the_shares_are_exact() {
        let counts = published().counts(1_000, &[900; 10]).unwrap();
        assert_eq!(counts, [75, 75, 150, 150, 125, 125, 100, 100, 50, 50]);
    }

    #[test]
    fn raking_makes_up_for_an_empty_cell() {
        // No position early in a game with Black to move: White has less of the rest.
        let counts = published().counts(1_000, &[900, 0, 900, 900, 900, 900, 900, 900, 900, 900]).unwrap();
        assert_eq!(counts[1], 0);
        assert_eq!(counts.iter().sum::<usize>(), 1_000);
        let margin = |part: &dyn Fn(usize) -> bool| {
            counts.iter().enumerate().filter(|(cell, _)| part(*cell)).map(|(_, count)| count).sum::<usize>()
        };
        for (bucket, share) in [150, 300, 250, 200, 100].into_iter().enumerate() {
            assert!(margin(&|cell| cell / 2 == bucket).abs_diff(share) <= 1, "{counts:?}");
        }
        assert!(margin(&|cell| cell % 2 == 0).abs_diff(500) <= 1, "{counts:?}");
    }

    #[test]
    fn never_more_than_there_are() {
        assert_eq!(Distribution::default().counts(10, &[3]).unwrap(), [3]);
        let counts = published().counts(1_000, &[10, 900, 900, 900, 900, 900, 900, 900, 900, 900]).unwrap();
        assert_eq!(counts[..2], [10, 75]);
    }

    #[test]
    fn what_is_wanted_and_not_there_is_named() {
        let fault = published().counts(10, &[1, 1, 0, 0, 1, 1, 1, 1, 1, 1]).unwrap_err();
        assert_eq!(fault, "no position has a full-move number of `10-19`");
        let fault = distribution(&[], true).counts(10, &[4, 0]).unwrap_err();
        assert_eq!(fault, "in no position it is Black's turn");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn the_most_have_the_shares_and_one_more_does_not(there in proptest::collection::vec(1_usize..60, 10)) {
            let most = published().most(&there).unwrap();
            let total: usize = most.iter().sum();
            prop_assert!(most.iter().zip(&there).all(|(count, there)| count <= there));
            prop_assert_eq!(&most, &published().counts(total, &[usize::MAX; 10]).unwrap());
            let more = published().counts(total + 1, &[usize::MAX; 10]).unwrap();
            prop_assert!(more.iter().zip(&there).any(|(count, there)| count > there));
        }
    }
}
