//! Errors of numbers, measured by their tolerances.

use cwm_contract::{Difference, Quantity};

/// The largest allowed difference, and the magnitude that it is relative to.
#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    /// The largest difference that is allowed.
    pub difference: f64,
    /// The magnitude to which a difference is relative.
    pub scale: f64,
}

impl Tolerance {
    /// A difference of so much, whatever the number; relative to magnitudes above 1.
    pub fn absolute(difference: f64, expected: f64) -> Self {
        Tolerance { difference, scale: expected.abs().max(1.0) }
    }

    /// Allows so large a fraction of `scale`.
    pub fn relative(share: f64, scale: f64) -> Self {
        Tolerance { difference: share * scale, scale }
    }

    /// Allows no difference from `expected`.
    pub fn exact(expected: f64) -> Self {
        Tolerance::absolute(0.0, expected)
    }
}

/// Gathers the differences of one quantity.
#[derive(Debug)]
pub struct ErrorStats {
    name: String,
    compared: u64,
    /// The worst by tolerance, and the largest relative difference.
    worst: Option<(Difference, Difference)>,
}

impl ErrorStats {
    /// Nothing compared yet.
    pub fn new(name: impl Into<String>) -> Self {
        ErrorStats { name: name.into(), compared: 0, worst: None }
    }

    /// One number alone.
    pub fn one(name: impl Into<String>, found: f64, expected: f64, tolerance: Tolerance) -> Option<Quantity> {
        let mut stats = ErrorStats::new(name);
        stats.compare(found, expected, tolerance, String::new);
        stats.finish()
    }

    /// Compares two numbers. What is no number is infinitely far from every other.
    pub fn compare(&mut self, found: f64, expected: f64, tolerance: Tolerance, place: impl FnOnce() -> String) {
        self.compared += 1;
        let difference = (found - expected).abs();
        let measured = |unit: f64| match difference {
            0.0 => 0.0,
            some if some.is_finite() && unit > 0.0 => some / unit,
            _ => f64::INFINITY,
        };
        let (of_tolerance, relative) = (measured(tolerance.difference), measured(tolerance.scale));
        let this = |place| Difference { place, found, expected, relative, of_tolerance };
        match &mut self.worst {
            None => {
                let this = this(place());
                self.worst = Some((this.clone(), this));
            }
            Some((worst, largest)) => {
                let (is_worst, is_largest) = (of_tolerance > worst.of_tolerance, relative > largest.relative);
                if is_worst || is_largest {
                    let this = this(place());
                    if is_largest {
                        *largest = this.clone();
                    }
                    if is_worst {
                        *worst = this;
                    }
                }
            }
        }
    }

    /// The quantity, if anything was compared.
    pub fn finish(self) -> Option<Quantity> {
        let ErrorStats { name, compared, worst } = self;
        worst.map(|(worst, largest)| Quantity { name, compared, worst, largest })
    }
}

/// `[1, 2, 3]`: the place of element `index` of a tensor of this shape.
pub fn place(mut index: usize, shape: &[usize]) -> String {
    let mut places: Vec<String> = Vec::with_capacity(shape.len());
    for &extent in shape.iter().rev() {
        places.push((index % extent.max(1)).to_string());
        index /= extent.max(1);
    }
    places.reverse();
    if places.is_empty() { String::new() } else { format!("[{}]", places.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worst(pairs: &[(f64, f64)], share: f64) -> Difference {
        let mut stats = ErrorStats::new("x");
        for (i, &(found, expected)) in pairs.iter().enumerate() {
            stats.compare(found, expected, Tolerance::relative(share, expected.abs()), || i.to_string());
        }
        stats.finish().unwrap().worst
    }

    #[test]
    fn the_worst_is_the_furthest_by_its_own_tolerance() {
        let difference = worst(&[(1.0, 1.0), (100.5, 100.0), (1.01, 1.0)], 0.1);
        assert_eq!(difference.place, "2");
        assert!((difference.of_tolerance - 0.1).abs() < 1e-9 && (difference.relative - 0.01).abs() < 1e-9);
        assert!(!difference.exceeds_tolerance());
    }

    #[test]
    fn the_largest_relative_difference_is_reported_beside_the_worst_by_tolerance() {
        let mut stats = ErrorStats::new("x");
        // The same is allowed of each, which is a small share of one number and a large one of another.
        for (i, (found, expected)) in [(5.0, 5.0), (10.001, 10.0), (1e-4, 2e-4)].into_iter().enumerate() {
            let tolerance = Tolerance { difference: 1e-3, scale: f64::abs(expected) };
            stats.compare(found, expected, tolerance, || i.to_string());
        }
        let quantity = stats.finish().unwrap();
        assert_eq!((quantity.worst.place.as_str(), quantity.largest.place.as_str()), ("1", "2"));
        assert!((quantity.largest.relative - 0.5).abs() < 1e-9 && (quantity.largest.of_tolerance - 0.1).abs() < 1e-9);
    }

    #[test]
    fn what_is_no_number_is_never_equal() {
        for found in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let difference = worst(&[(1.0, 1.0), (found, 1.0), (9.0, 1.0)], 0.1);
            assert_eq!((difference.place.as_str(), difference.exceeds_tolerance()), ("1", true));
        }
        assert!(worst(&[(f64::NAN, f64::NAN)], 0.1).exceeds_tolerance());
        assert!(worst(&[(f64::INFINITY, f64::INFINITY)], 0.1).exceeds_tolerance());
    }

    #[test]
    fn nothing_is_allowed_of_counts_and_of_nothing() {
        assert!(!ErrorStats::one("n", 5.0, 5.0, Tolerance::exact(5.0)).unwrap().worst.exceeds_tolerance());
        assert!(ErrorStats::one("n", 5.0, 6.0, Tolerance::exact(6.0)).unwrap().worst.exceeds_tolerance());
        assert!(worst(&[(1e-30, 0.0)], 0.1).exceeds_tolerance());
        assert!(ErrorStats::new("n").finish().is_none());
    }

    #[test]
    fn places_count_like_the_tensor() {
        assert_eq!(place(0, &[]), "");
        assert_eq!(place(7, &[2, 5]), "[1, 2]");
        assert_eq!(place(59, &[3, 4, 5]), "[2, 3, 4]");
    }
}
