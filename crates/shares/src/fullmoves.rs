//! Ranges of full moves, and the share of each.

use std::collections::BTreeMap;

/// Ranges of full-move numbers that do not overlap, in rising order, each with its share.
#[derive(Clone, Debug, PartialEq)]
pub struct Fullmoves(Vec<Range>);

#[derive(Clone, Debug, PartialEq)]
struct Range {
    name: String,
    first: u32,
    last: u32,
    share: f64,
}

impl Fullmoves {
    /// Reads shares by range, such as `0-9` (both included) or `40+`. The shares need not add up to 1.
    ///
    /// # Errors
    ///
    /// The wrong range in words: a name that is no range, two that overlap, a share below 0; or all shares are 0.
    pub fn new(shares: &BTreeMap<String, f64>) -> Result<Self, String> {
        let mut ranges = Vec::with_capacity(shares.len());
        for (name, &share) in shares {
            let (first, last) =
                bounds(name).ok_or_else(|| format!("`{name}` is no range of full moves such as `10-19` or `40+`"))?;
            if !share.is_finite() || share < 0.0 {
                return Err(format!("the share {share} of `{name}` is not a number of at least 0"));
            }
            ranges.push(Range { name: name.clone(), first, last, share });
        }
        ranges.sort_by_key(|range| range.first);
        for pair in ranges.windows(2) {
            if pair[1].first <= pair[0].last {
                return Err(format!("`{}` and `{}` overlap", pair[0].name, pair[1].name));
            }
        }
        if ranges.iter().all(|range| range.share == 0.0) {
            return Err("no range has a share above 0".to_owned());
        }
        Ok(Fullmoves(ranges))
    }

    /// The index of the range that a full-move number is in, if any.
    pub fn range_of(&self, fullmove: u32) -> Option<usize> {
        self.0.iter().position(|range| (range.first..=range.last).contains(&fullmove))
    }

    /// The name of a range.
    pub fn name(&self, range: usize) -> &str {
        &self.0[range].name
    }

    /// The shares of all ranges.
    pub fn shares(&self) -> Vec<f64> {
        self.0.iter().map(|range| range.share).collect()
    }
}

fn bounds(name: &str) -> Option<(u32, u32)> {
    if let Some(first) = name.strip_suffix('+') {
        return Some((first.parse().ok()?, u32::MAX));
    }
    let (first, last) = name.split_once('-')?;
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(of: &[(&str, f64)]) -> Result<Fullmoves, String> {
        Fullmoves::new(&of.iter().map(|(name, share)| ((*name).to_owned(), *share)).collect())
    }

    #[test]
    fn ranges_stand_in_rising_order_and_hold_their_ends() {
        let ranges = shares(&[("10-19", 0.3), ("0-9", 0.1), ("40-150", 0.15), ("200+", 0.0)]).unwrap();
        assert_eq!(ranges.shares(), [0.1, 0.3, 0.15, 0.0]);
        let found = [0, 9, 10, 19, 20, 150, 151, 9_999].map(|fullmove| ranges.range_of(fullmove));
        assert_eq!(found, [Some(0), Some(0), Some(1), Some(1), None, Some(2), None, Some(3)]);
        assert_eq!(ranges.name(2), "40-150");
    }

    #[test]
    fn wrong_ranges_are_named() {
        for (given, words) in [
            (&[("ten", 1.0)][..], "`ten` is no range of full moves such as `10-19` or `40+`"),
            (&[("9-0", 1.0)], "`9-0` is no range of full moves such as `10-19` or `40+`"),
            (&[("0-9", 1.0), ("9-12", 1.0)], "`0-9` and `9-12` overlap"),
            (&[("0+", 1.0), ("9-12", 1.0)], "`0+` and `9-12` overlap"),
            (&[("0-9", -1.0)], "the share -1 of `0-9` is not a number of at least 0"),
            (&[("0-9", 0.0)], "no range has a share above 0"),
            (&[], "no range has a share above 0"),
        ] {
            assert_eq!(shares(given).unwrap_err(), words);
        }
    }
}
