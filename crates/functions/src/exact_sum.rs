//! A sum of floats that does not depend on their order.
//!
//! Every finite `f64` is a whole multiple of 2^-1074, so a wide enough integer holds any sum of them without rounding.
//! The one rounding, to nearest even, happens when the value is requested. A plain float sum instead rounds at each
//! step, and its last digits change with the order in which threads deliver their parts.

/// Digits of 32 bits, least significant first. 2098 bits span all finite `f64`; the rest is room for 2^63 addends.
const DIGITS: usize = 70;
const DIGIT_MASK: i64 = 0xffff_ffff;
/// Additions of less than 2^32 that a digit takes before its carry must move on.
const ADDITIONS_BEFORE_CARRY: u32 = 1 << 30;

/// Running exact sum. Numbers of one magnitude need few digits, and only those are held: a query may keep one of these
/// for each of its groups.
#[derive(Clone, Debug, Default)]
pub struct ExactSum {
    /// The sum in units of 2^-1074, in base 2^32 with signed, not yet carried digits. Those below `lowest` are 0, and
    /// so are those behind the last.
    digits: Vec<i64>,
    lowest: usize,
    additions: u32,
    positive_infinity: bool,
    negative_infinity: bool,
    not_a_number: bool,
}

impl ExactSum {
    /// Adds one number.
    pub fn add(&mut self, number: f64) {
        if !number.is_finite() {
            self.not_a_number |= number.is_nan();
            self.positive_infinity |= number == f64::INFINITY;
            self.negative_infinity |= number == f64::NEG_INFINITY;
            return;
        }
        let bits = number.to_bits();
        let exponent = (bits >> 52) & 0x7ff;
        let fraction = bits & ((1 << 52) - 1);
        // Subnormal numbers have no implicit leading bit and share the exponent of the smallest normal ones.
        let mantissa = if exponent == 0 { fraction } else { fraction | (1 << 52) };
        let position = exponent.max(1) as usize - 1;
        let wide = u128::from(mantissa) << (position % 32);
        self.hold(position / 32, 3);
        let first = position / 32 - self.lowest;
        for (offset, held) in self.digits[first..first + 3].iter_mut().enumerate() {
            let digit = (wide >> (32 * offset)) as i64 & DIGIT_MASK;
            *held += if number.is_sign_negative() { -digit } else { digit };
        }
        self.additions += 1;
        if self.additions == ADDITIONS_BEFORE_CARRY {
            self.carry();
        }
    }

    /// Adds what `other` has summed.
    pub fn merge(&mut self, other: &ExactSum) {
        let mut other = other.clone();
        other.carry();
        self.carry();
        self.hold(other.lowest, other.digits.len());
        let first = other.lowest.saturating_sub(self.lowest);
        for (digit, added) in self.digits.iter_mut().skip(first).zip(&other.digits) {
            *digit += added;
        }
        self.additions += 1;
        self.positive_infinity |= other.positive_infinity;
        self.negative_infinity |= other.negative_infinity;
        self.not_a_number |= other.not_a_number;
    }

    /// The sum, rounded once to nearest even; NaN if a NaN or both infinities were added.
    pub fn value(&self) -> f64 {
        if self.not_a_number || (self.positive_infinity && self.negative_infinity) {
            return f64::NAN;
        }
        if self.positive_infinity {
            return f64::INFINITY;
        }
        if self.negative_infinity {
            return f64::NEG_INFINITY;
        }
        let mut magnitude = self.clone();
        magnitude.carry();
        let negative = magnitude.digits.last().is_some_and(|highest| *highest < 0);
        if negative {
            magnitude.digits.iter_mut().for_each(|digit| *digit = -*digit);
            magnitude.carry();
        }
        let mut digits = [0; DIGITS];
        digits[magnitude.lowest..magnitude.lowest + magnitude.digits.len()].copy_from_slice(&magnitude.digits);
        let rounded = round(&digits);
        if negative { -rounded } else { rounded }
    }

    /// Makes room for `count` digits from the one at `first`.
    fn hold(&mut self, first: usize, count: usize) {
        if count == 0 {
            return;
        }
        if self.digits.is_empty() {
            self.lowest = first;
        }
        if first < self.lowest {
            self.digits.splice(0..0, std::iter::repeat_n(0, self.lowest - first));
            self.lowest = first;
        }
        let held = self.digits.len().max(first + count - self.lowest);
        self.digits.resize(held, 0);
    }

    /// Carries so that all digits but the highest are in 0..2^32; the highest keeps the sign, and is no larger, but
    /// for the last that there is.
    fn carry(&mut self) {
        let mut index = 0;
        while index < self.digits.len() {
            let is_highest = index + 1 == self.digits.len();
            let fits = i32::try_from(self.digits[index]).is_ok();
            if is_highest && (fits || self.lowest + self.digits.len() == DIGITS) {
                break;
            }
            if is_highest {
                self.digits.push(0);
            }
            let carry = self.digits[index] >> 32;
            self.digits[index] &= DIGIT_MASK;
            self.digits[index + 1] += carry;
            index += 1;
        }
        self.additions = 0;
    }

    /// The state as bytes: the three flags as bits, the place of the lowest digit, the digits, little-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut carried = self.clone();
        carried.carry();
        let flags = [self.positive_infinity, self.negative_infinity, self.not_a_number];
        let flags = flags.iter().rev().fold(0, |byte, flag| byte << 1 | u8::from(*flag));
        let mut bytes = vec![flags, carried.lowest as u8];
        bytes.extend(carried.digits.iter().flat_map(|digit| digit.to_le_bytes()));
        bytes
    }

    /// The state that [`ExactSum::to_bytes`] wrote; `None` for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let [flags, lowest, numbers @ ..] = bytes else { return None };
        let (digits, rest) = numbers.as_chunks::<8>();
        let lowest = usize::from(*lowest);
        if !rest.is_empty() || lowest + digits.len() > DIGITS {
            return None;
        }
        Some(ExactSum {
            digits: digits.iter().map(|digit| i64::from_le_bytes(*digit)).collect(),
            lowest,
            additions: 0,
            positive_infinity: flags & 1 != 0,
            negative_infinity: flags & 2 != 0,
            not_a_number: flags & 4 != 0,
        })
    }

    /// Bytes of memory that it takes beside itself.
    pub fn allocated(&self) -> usize {
        self.digits.capacity() * size_of::<i64>()
    }
}

/// The `f64` nearest to a carried, non-negative number of units of 2^-1074.
fn round(digits: &[i64; DIGITS]) -> f64 {
    let Some(top) = digits.iter().rposition(|digit| *digit != 0) else {
        return 0.0;
    };
    let highest = top * 32 + digits[top].ilog2() as usize;
    // The 53 bits that fit start at `low`; below 2^53 units the number is exact and is its own bit pattern.
    let low = highest.saturating_sub(52);
    let bit = |position: usize| digits[position / 32] >> (position % 32) & 1 != 0;
    let window = (0..3).fold(0u128, |window, offset| {
        window | (digits.get(low / 32 + offset).copied().unwrap_or(0) as u128) << (32 * offset)
    });
    let mantissa = (window >> (low % 32)) as u64 & ((1 << 53) - 1);
    let half = low > 0 && bit(low - 1);
    let beyond_half = low > 1 && (0..low - 1).any(bit);
    let round_up = half && (beyond_half || mantissa & 1 != 0);
    // The mantissa's leading bit, added into the exponent field, makes it one larger, as the encoding wants; a
    // mantissa that rounding made 2^53 carries in the same way.
    let encoded = ((low as u64) << 52) + mantissa + u64::from(round_up);
    if encoded >= f64::INFINITY.to_bits() { f64::INFINITY } else { f64::from_bits(encoded) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sum(numbers: &[f64]) -> f64 {
        let mut sum = ExactSum::default();
        numbers.iter().for_each(|number| sum.add(*number));
        sum.value()
    }

    #[test]
    fn what_plain_addition_loses_is_kept() {
        assert_eq!(sum(&[1e100, 1.0, -1e100]), 1.0);
        assert_eq!(sum(&[0.1; 10]), 1.0);
        assert_eq!(sum(&[f64::MAX, f64::MAX, -f64::MAX]), f64::MAX);
        assert_eq!(sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(sum(&[5e-324, 5e-324, -1e-320]), -1e-320 + 1e-323);
        assert_eq!(sum(&[]), 0.0);
    }

    #[test]
    fn halves_go_to_the_even_neighbour() {
        let above_one = 1.0 + f64::EPSILON;
        assert_eq!(sum(&[1.0, f64::EPSILON / 2.0]), 1.0);
        assert_eq!(sum(&[above_one, f64::EPSILON / 2.0]), above_one + f64::EPSILON);
        assert_eq!(sum(&[1.0, f64::EPSILON / 2.0, 5e-324]), above_one);
    }

    #[test]
    fn infinities_and_nan_survive() {
        assert_eq!(sum(&[1.0, f64::INFINITY]), f64::INFINITY);
        assert_eq!(sum(&[f64::NEG_INFINITY, 1.0]), f64::NEG_INFINITY);
        assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        assert!(sum(&[f64::NAN, 1.0]).is_nan());
    }

    #[test]
    fn numbers_of_one_magnitude_take_little_memory() {
        let mut sum = ExactSum::default();
        (1..10_000).for_each(|number| sum.add(f64::from(number) / 7.0));
        assert!(sum.allocated() <= 64, "{}", sum.allocated());
    }

    #[test]
    fn what_is_no_state_is_refused() {
        let mut sum = ExactSum::default();
        sum.add(1.5);
        let bytes = sum.to_bytes();
        assert_eq!(ExactSum::from_bytes(&bytes).unwrap().value(), 1.5);
        assert!(ExactSum::from_bytes(&bytes[..bytes.len() - 1]).is_none() && ExactSum::from_bytes(&[0]).is_none());
        assert!(ExactSum::from_bytes(&[&[0, 69][..], &[0; 16]].concat()).is_none());
    }

    #[test]
    fn a_carry_in_the_middle_changes_nothing() {
        let mut carried = ExactSum::default();
        for number in [3.5, -7.25, 1e300, -1e300] {
            carried.add(number);
            carried.carry();
        }
        assert_eq!(carried.value(), -3.75);
    }

    proptest! {
        #[test]
        fn whole_numbers_add_as_integers(numbers in prop::collection::vec(-(1i64 << 53)..(1i64 << 53), 0..200)) {
            let expected = numbers.iter().map(|number| i128::from(*number)).sum::<i128>();
            let floats: Vec<f64> = numbers.iter().map(|number| *number as f64).collect();
            // `as` rounds an integer to nearest even.
            prop_assert_eq!(sum(&floats), expected as f64);
        }

        #[test]
        fn two_numbers_add_as_the_processor_does(a in any::<f64>(), b in any::<f64>()) {
            let (ours, theirs) = (sum(&[a, b]), a + b);
            prop_assert!(ours == theirs || (ours.is_nan() && theirs.is_nan()), "{} {}", ours, theirs);
        }

        #[test]
        fn order_and_parts_do_not_matter(numbers in prop::collection::vec(any::<f64>(), 0..60), cut in 0usize..60) {
            let whole = sum(&numbers);
            let mut backwards = numbers.clone();
            backwards.reverse();
            prop_assert_eq!(sum(&backwards).to_bits(), whole.to_bits());
            let (left, right) = numbers.split_at(cut.min(numbers.len()));
            let (mut first, mut second) = (ExactSum::default(), ExactSum::default());
            left.iter().for_each(|number| first.add(*number));
            right.iter().for_each(|number| second.add(*number));
            let restored = ExactSum::from_bytes(&second.to_bytes()).unwrap();
            first.merge(&restored);
            prop_assert_eq!(first.value().to_bits(), whole.to_bits());
        }
    }
}
