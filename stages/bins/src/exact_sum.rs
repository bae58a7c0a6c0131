//! A sum of floats that does not depend on their order.
//!
//! Every finite `f64` is a whole multiple of 2^-1074, so a wide enough integer holds any sum of them without rounding.
//! The one rounding, to nearest even, happens when the value is asked for. A plain float sum instead rounds at each
//! step, and its last digits change with the order in which threads deliver their parts.

/// Digits of 32 bits, least significant first. 2098 bits span all finite `f64`; the rest is room for 2^63 addends.
const DIGITS: usize = 70;
const DIGIT_MASK: i64 = 0xffff_ffff;
/// Additions of less than 2^32 that a digit takes before its carry must move on.
const ADDITIONS_BEFORE_CARRY: u32 = 1 << 30;

/// Running exact sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExactSum {
    /// The sum in units of 2^-1074, in base 2^32 with signed, not yet carried digits.
    digits: [i64; DIGITS],
    additions: u32,
    positive_infinity: bool,
    negative_infinity: bool,
    not_a_number: bool,
}

impl Default for ExactSum {
    fn default() -> Self {
        ExactSum {
            digits: [0; DIGITS],
            additions: 0,
            positive_infinity: false,
            negative_infinity: false,
            not_a_number: false,
        }
    }
}

impl ExactSum {
    /// Bytes that [`ExactSum::to_bytes`] returns.
    const BYTES: usize = DIGITS * 8 + 1;

    /// Adds one number.
    pub(crate) fn add(&mut self, number: f64) {
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
        for offset in 0..3 {
            let digit = (wide >> (32 * offset)) as i64 & DIGIT_MASK;
            self.digits[position / 32 + offset] += if number.is_sign_negative() { -digit } else { digit };
        }
        self.additions += 1;
        if self.additions == ADDITIONS_BEFORE_CARRY {
            self.carry();
        }
    }

    /// Adds what `other` has summed.
    pub(crate) fn merge(&mut self, other: &ExactSum) {
        let mut other = other.clone();
        other.carry();
        self.carry();
        for (digit, added) in self.digits.iter_mut().zip(other.digits) {
            *digit += added;
        }
        self.additions += 1;
        self.positive_infinity |= other.positive_infinity;
        self.negative_infinity |= other.negative_infinity;
        self.not_a_number |= other.not_a_number;
    }

    /// The sum, rounded once to nearest even; NaN if a NaN or both infinities were added.
    pub(crate) fn value(&self) -> f64 {
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
        let negative = magnitude.digits[DIGITS - 1] < 0;
        if negative {
            magnitude.digits.iter_mut().for_each(|digit| *digit = -*digit);
            magnitude.carry();
        }
        let rounded = round(&magnitude.digits);
        if negative { -rounded } else { rounded }
    }

    /// Brings all digits but the highest into 0..2^32; the highest keeps the sign.
    fn carry(&mut self) {
        for index in 0..DIGITS - 1 {
            let carry = self.digits[index] >> 32;
            self.digits[index] &= DIGIT_MASK;
            self.digits[index + 1] += carry;
        }
        self.additions = 0;
    }

    /// The state as bytes: the digits, little-endian, then the three flags as bits.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut carried = self.clone();
        carried.carry();
        let mut bytes: Vec<u8> = carried.digits.iter().flat_map(|digit| digit.to_le_bytes()).collect();
        let flags = [self.positive_infinity, self.negative_infinity, self.not_a_number];
        bytes.push(flags.iter().rev().fold(0, |byte, flag| byte << 1 | u8::from(*flag)));
        bytes
    }

    /// The state that [`ExactSum::to_bytes`] wrote; `None` for anything else.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != Self::BYTES {
            return None;
        }
        let (numbers, flags) = bytes.split_at(DIGITS * 8);
        let mut sum = ExactSum::default();
        for (digit, chunk) in sum.digits.iter_mut().zip(numbers.chunks_exact(8)) {
            *digit = i64::from_le_bytes(chunk.try_into().ok()?);
        }
        sum.positive_infinity = flags[0] & 1 != 0;
        sum.negative_infinity = flags[0] & 2 != 0;
        sum.not_a_number = flags[0] & 4 != 0;
        Some(sum)
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
