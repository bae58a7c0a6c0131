//! Ratings and intervals as text.

use std::fmt::{Display, Formatter, Result};

use crate::interval::Interval;
use crate::likeliest::Rating;

/// Writes a number, rounded by `round`, with the decimals and the sign of the format.
fn write_rounded(f: &mut Formatter, number: f64, round: impl Fn(f64) -> f64) -> Result {
    let decimals = f.precision().unwrap_or(0).min(9);
    let scale = 10f64.powi(decimals as i32);
    // With 0 added, a zero has no minus.
    let number = round(number * scale) / scale + 0.0;
    if f.sign_plus() { write!(f, "{number:+.decimals$}") } else { write!(f, "{number:.decimals$}") }
}

impl Display for Rating {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match *self {
            Rating::Likeliest { rating, .. } => write_rounded(f, rating, f64::round),
            Rating::Below(bound) => Interval { low: None, high: Some(bound) }.fmt(f),
            Rating::Above(bound) => Interval { low: Some(bound), high: None }.fmt(f),
        }
    }
}

impl Display for Interval {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match (self.low, self.high) {
            (None, None) => f.write_str("any rating"),
            (Some(low), None) => {
                f.write_str("> ")?;
                write_rounded(f, low, f64::floor)
            }
            (None, Some(high)) => {
                f.write_str("< ")?;
                write_rounded(f, high, f64::ceil)
            }
            (Some(low), Some(high)) => {
                write_rounded(f, low, f64::floor)?;
                f.write_str(" to ")?;
                write_rounded(f, high, f64::ceil)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_displayed_as_bounds_and_rounded_outwards() {
        let rating = Rating::Likeliest { rating: 1_741.96, standard_error: 69.5 };
        assert_eq!(format!("{rating}, {rating:.1}, {rating:+}"), "1742, 1742.0, +1742");
        assert_eq!(format!("{0}, {0:.1}", Rating::Below(988.31)), "< 989, < 988.4");
        assert_eq!(format!("{0}, {0:.1}", Rating::Above(1_988.67)), "> 1988, > 1988.6");
        assert_eq!(Rating::Likeliest { rating: -0.2, standard_error: 1.0 }.to_string(), "0");
        let interval = |low, high| Interval { low, high }.to_string();
        assert_eq!(interval(Some(1_700.9), Some(1_789.1)), "1700 to 1790");
        assert_eq!(interval(None, Some(1_789.1)), "< 1790");
        assert_eq!(interval(Some(-0.5), None), "> -1");
        assert_eq!(interval(None, None), "any rating");
    }
}
