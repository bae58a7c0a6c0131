//! The interval that the results of resamples span.

/// Returns true if `confidence` is the share of something that an interval can hold: above 0 and below 1.
pub fn is_fraction(confidence: f64) -> bool {
    confidence > 0.0 && confidence < 1.0
}

/// A tolerance for rounding in a number of results: far above the rounding, and far below one result.
const ROUNDING: f64 = 1e-9;

/// The percentile interval: from each side as many of `results` are left out, so that it holds the share `confidence` of
/// them. `results` are sorted on the way. `None` where there are none, or one of them is not finite.
pub fn confidence_interval(results: &mut [f64], confidence: f64) -> Option<(f64, f64)> {
    if results.is_empty() || !results.iter().all(|result| result.is_finite()) {
        return None;
    }
    results.sort_unstable_by(f64::total_cmp);
    // Half of 1 - 0.9 is less than 0.05 in floats: a number that is whole but for rounding counts as whole.
    let outside = ((1.0 - confidence) / 2.0 * results.len() as f64 + ROUNDING).floor() as usize;
    let outside = outside.min((results.len() - 1) / 2);
    Some((results[outside], results[results.len() - 1 - outside]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn from_each_side_as_many_are_left_out() {
        let mut results: Vec<f64> = (0..1_000).rev().map(f64::from).collect();
        assert_eq!(confidence_interval(&mut results, 0.95), Some((25.0, 974.0)));
        assert_eq!(confidence_interval(&mut results, 0.9), Some((50.0, 949.0)));
        assert_eq!(confidence_interval(&mut results, 0.8), Some((100.0, 899.0)));
        assert_eq!(confidence_interval(&mut results, 0.5), Some((250.0, 749.0)));
        assert_eq!(confidence_interval(&mut [3.0, 1.0], 0.01), Some((1.0, 3.0)));
        assert_eq!(confidence_interval(&mut [3.0, 1.0, 2.0], 0.01), Some((2.0, 2.0)));
    }

    #[test]
    fn without_finite_results_there_is_none() {
        for results in [&mut [][..], &mut [1.0, f64::NAN], &mut [f64::INFINITY, 1.0, 2.0]] {
            assert_eq!(confidence_interval(results, 0.95), None);
        }
    }

    proptest! {
        #[test]
        fn it_holds_at_least_the_share(mut results in prop::collection::vec(-1e3f64..1e3, 1..300), confidence in 0.01f64..0.99) {
            let (low, high) = confidence_interval(&mut results, confidence).unwrap();
            let inside = results.iter().filter(|result| (low..=high).contains(*result)).count();
            prop_assert!(inside as f64 >= confidence * results.len() as f64 - 4.0 * ROUNDING);
        }
    }
}
