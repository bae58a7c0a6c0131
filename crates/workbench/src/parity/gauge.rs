//! How far numbers are from what they should be.

use cwm_contract::{Difference, Quantity};

/// What is allowed of a difference, and what it is relative to.
#[derive(Clone, Copy, Debug)]
pub struct Allowed {
    /// The largest difference that is allowed.
    pub difference: f64,
    /// The magnitude that a difference is told relative to.
    pub scale: f64,
}

impl Allowed {
    /// A difference of so much, whatever the number; told relative to magnitudes above 1.
    pub fn absolute(difference: f64, expected: f64) -> Self {
        Allowed { difference, scale: expected.abs().max(1.0) }
    }

    /// So large a share of `scale`.
    pub fn share(share: f64, scale: f64) -> Self {
        Allowed { difference: share * scale, scale }
    }

    /// None.
    pub fn none(expected: f64) -> Self {
        Allowed::absolute(0.0, expected)
    }
}

/// Gathers the differences of one quantity.
#[derive(Debug)]
pub struct Gauge {
    name: String,
    compared: u64,
    /// The worst by tolerance, and the largest relative difference.
    worst: Option<(Difference, Difference)>,
}

impl Gauge {
    /// Nothing compared yet.
    pub fn new(name: impl Into<String>) -> Self {
        Gauge { name: name.into(), compared: 0, worst: None }
    }

    /// One number alone.
    pub fn one(name: impl Into<String>, found: f64, expected: f64, allowed: Allowed) -> Option<Quantity> {
        let mut gauge = Gauge::new(name);
        gauge.compare(found, expected, allowed, String::new);
        gauge.finish()
    }

    /// Compares two numbers. What is no number is infinitely far from every other.
    pub fn compare(&mut self, found: f64, expected: f64, allowed: Allowed, place: impl FnOnce() -> String) {
        self.compared += 1;
        let difference = (found - expected).abs();
        let measured = |unit: f64| match difference {
            0.0 => 0.0,
            some if some.is_finite() && unit > 0.0 => some / unit,
            _ => f64::INFINITY,
        };
        let (of_tolerance, relative) = (measured(allowed.difference), measured(allowed.scale));
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
        let Gauge { name, compared, worst } = self;
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
        let mut gauge = Gauge::new("x");
        for (i, &(found, expected)) in pairs.iter().enumerate() {
            gauge.compare(found, expected, Allowed::share(share, expected.abs()), || i.to_string());
        }
        gauge.finish().unwrap().worst
    }

    #[test]
    fn the_worst_is_the_furthest_by_its_own_tolerance() {
        let difference = worst(&[(1.0, 1.0), (100.5, 100.0), (1.01, 1.0)], 0.1);
        assert_eq!(difference.place, "2");
        assert!((difference.of_tolerance - 0.1).abs() < 1e-9 && (difference.relative - 0.01).abs() < 1e-9);
        assert!(!difference.is_beyond());
    }

    #[test]
    fn the_largest_relative_difference_is_told_beside_the_worst_by_tolerance() {
        let mut gauge = Gauge::new("x");
        // The same is allowed of each, which is a small share of one number and a large one of another.
        for (i, (found, expected)) in [(5.0, 5.0), (10.001, 10.0), (1e-4, 2e-4)].into_iter().enumerate() {
            let allowed = Allowed { difference: 1e-3, scale: f64::abs(expected) };
            gauge.compare(found, expected, allowed, || i.to_string());
        }
        let quantity = gauge.finish().unwrap();
        assert_eq!((quantity.worst.place.as_str(), quantity.largest.place.as_str()), ("1", "2"));
        assert!((quantity.largest.relative - 0.5).abs() < 1e-9 && (quantity.largest.of_tolerance - 0.1).abs() < 1e-9);
    }

    #[test]
    fn what_is_no_number_is_never_equal() {
        for found in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let difference = worst(&[(1.0, 1.0), (found, 1.0), (9.0, 1.0)], 0.1);
            assert_eq!((difference.place.as_str(), difference.is_beyond()), ("1", true));
        }
        assert!(worst(&[(f64::NAN, f64::NAN)], 0.1).is_beyond());
        assert!(worst(&[(f64::INFINITY, f64::INFINITY)], 0.1).is_beyond());
    }

    #[test]
    fn nothing_is_allowed_of_counts_and_of_nothing() {
        assert!(!Gauge::one("n", 5.0, 5.0, Allowed::none(5.0)).unwrap().worst.is_beyond());
        assert!(Gauge::one("n", 5.0, 6.0, Allowed::none(6.0)).unwrap().worst.is_beyond());
        assert!(worst(&[(1e-30, 0.0)], 0.1).is_beyond());
        assert!(Gauge::new("n").finish().is_none());
    }

    #[test]
    fn places_count_like_the_tensor() {
        assert_eq!(place(0, &[]), "");
        assert_eq!(place(7, &[2, 5]), "[1, 2]");
        assert_eq!(place(59, &[3, 4, 5]), "[2, 3, 4]");
    }
}
