//! Buckets of full-move numbers, and the share of each.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Shares of positions by their full-move number.
#[derive(Clone, Debug, PartialEq)]
pub struct FullmoveShares(Vec<Bucket>);

#[derive(Clone, Debug, PartialEq)]
struct Bucket {
    name: String,
    fullmoves: RangeInclusive<u32>,
    share: f64,
}

impl FullmoveShares {
    /// Reads the buckets of a pipeline, such as `{"0-9": 0.1, "10-19": 0.3, "40+": 0.6}`. Only proportions of the shares count.
    ///
    /// # Errors
    ///
    /// There is no bucket with a share; a name is no range; two ranges overlap; a share is negative or no number.
    pub fn of_map(map: &BTreeMap<String, f64>) -> Result<FullmoveShares, String> {
        let bucket = |(name, &share): (&String, &f64)| {
            let fullmoves =
                range(name).ok_or_else(|| format!("has `{name}`: write full-move numbers as `10-19` or `40+`"))?;
            if !share.is_finite() || share < 0. {
                return Err(format!("has the share {share} for `{name}`, which is not a number from 0 on"));
            }
            Ok(Bucket { name: name.clone(), fullmoves, share })
        };
        let mut buckets: Vec<Bucket> = map.iter().map(bucket).collect::<Result<_, _>>()?;
        buckets.sort_by_key(|bucket| *bucket.fullmoves.start());
        if let Some(pair) = buckets.windows(2).find(|pair| pair[1].fullmoves.start() <= pair[0].fullmoves.end()) {
            return Err(format!("has `{}` and `{}`, which overlap", pair[0].name, pair[1].name));
        }
        let sum: f64 = buckets.iter().map(|bucket| bucket.share).sum();
        if sum <= 0. {
            return Err("has no share above 0".to_owned());
        }
        buckets.iter_mut().for_each(|bucket| bucket.share /= sum);
        Ok(FullmoveShares(buckets))
    }

    /// The bucket of a full-move number; none if there is none, or its share is 0.
    pub fn bucket(&self, fullmove: u32) -> Option<usize> {
        self.0.iter().position(|bucket| bucket.fullmoves.contains(&fullmove) && bucket.share > 0.)
    }

    /// The share of each bucket; together 1.
    pub fn shares(&self) -> Vec<f64> {
        self.0.iter().map(|bucket| bucket.share).collect()
    }

    /// The name of a bucket, as the pipeline has it.
    pub fn name(&self, bucket: usize) -> &str {
        &self.0[bucket].name
    }
}

/// `10-19` or `40+`.
fn range(name: &str) -> Option<RangeInclusive<u32>> {
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let (first, last) = match name.strip_suffix('+') {
        Some(first) => (number(first)?, u32::MAX),
        None => {
            let (first, last) = name.split_once('-')?;
            (number(first)?, number(last)?)
        }
    };
    (first <= last).then_some(first..=last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(buckets: &[(&str, f64)]) -> Result<FullmoveShares, String> {
        FullmoveShares::of_map(&buckets.iter().map(|(name, share)| ((*name).to_owned(), *share)).collect())
    }

    #[test]
    fn buckets_are_in_the_order_of_the_game() {
        let shares = read(&[("40+", 2.), ("0-9", 6.), ("10-39", 0.)]).unwrap();
        assert_eq!(shares.shares(), [0.75, 0., 0.25]);
        assert_eq!(
            [1, 9, 10, 40, 7_000].map(|fullmove| shares.bucket(fullmove)),
            [Some(0), Some(0), None, Some(2), Some(2)]
        );
        assert_eq!(shares.name(2), "40+");
        assert_eq!(read(&[("5-6", 1.)]).unwrap().bucket(7), None);
    }

    #[test]
    fn what_is_no_table_is_an_error_in_words() {
        for (buckets, fault) in [
            (vec![("early", 1.)], "has `early`: write full-move numbers as `10-19` or `40+`"),
            (vec![("9-0", 1.)], "has `9-0`: write full-move numbers as `10-19` or `40+`"),
            (vec![("0-9", -1.)], "has the share -1 for `0-9`, which is not a number from 0 on"),
            (vec![("0-10", 1.), ("10-19", 1.)], "has `0-10` and `10-19`, which overlap"),
            (vec![("0-9", 0.)], "has no share above 0"),
            (vec![], "has no share above 0"),
        ] {
            assert_eq!(read(&buckets).unwrap_err(), fault);
        }
    }
}
