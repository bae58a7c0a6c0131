//! How numbers are printed: as the paper does it in its Tables 8 to 10.

/// A loss: 6 decimals, or three digits and a power of ten below 1e-4 and from 1e6.
pub(crate) fn loss(value: f64) -> String {
    match value.abs() {
        magnitude if !magnitude.is_finite() => not_finite(value),
        magnitude if magnitude != 0.0 && !(1e-4..1e6).contains(&magnitude) => power_of_ten(value),
        _ => format!("{value:.6}").replace('-', "−"),
    }
}

/// A fraction as a percentage with 2 decimals, without the sign %.
pub(crate) fn percent(fraction: f64) -> String {
    let value = fraction * 100.0;
    if value.is_finite() { format!("{value:.2}").replace('-', "−") } else { not_finite(value) }
}

/// Millions with 2 decimals.
pub(crate) fn millions(number: u64) -> String {
    format!("{:.2}", number as f64 / 1e6)
}

/// A count, its thousands apart.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A mean over `number` things with 1 decimal, 2 below ten, and its value; `None` of nothing.
pub(crate) fn mean(sum: u64, number: u64) -> Option<(f64, String)> {
    let value = sum as f64 / number as f64;
    let text = if value < 10.0 { format!("{value:.2}") } else { format!("{value:.1}") };
    (number > 0).then_some((value, text))
}

/// A number and its sign, printed by `print`; without a sign where it prints as zero.
pub(crate) fn signed(value: f64, print: fn(f64) -> String) -> String {
    let text = print(value);
    if value > 0.0 && text.chars().any(|character| ('1'..='9').contains(&character) || character == 'i') {
        format!("+{text}")
    } else if text.chars().all(|character| matches!(character, '−' | '0' | '.')) {
        text.replace('−', "")
    } else {
        text
    }
}

/// A number for machines: 12 significant digits at most, which leaves out the noise of binary fractions; whole numbers
/// in full; `inf`, `-inf`, `nan`.
pub(crate) fn plain(value: f64) -> String {
    match value {
        nan if nan.is_nan() => "nan".to_owned(),
        f64::INFINITY => "inf".to_owned(),
        f64::NEG_INFINITY => "-inf".to_owned(),
        finite => {
            let whole = finite.fract() == 0.0;
            let rounded = if whole { finite } else { format!("{finite:.11e}").parse().unwrap_or(finite) };
            // `{:?}` is the shortest text that reads back as the same number.
            let text = format!("{rounded:?}");
            text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
        }
    }
}

fn not_finite(value: f64) -> String {
    match value {
        f64::INFINITY => "inf".to_owned(),
        f64::NEG_INFINITY => "−inf".to_owned(),
        _ => "NaN".to_owned(),
    }
}

fn power_of_ten(value: f64) -> String {
    let text = format!("{value:.2e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let raised: String = exponent
        .chars()
        .map(|character| match character {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            digit => char::from_u32('⁰' as u32 + u32::from(digit) - u32::from('0')).unwrap_or(digit),
        })
        .collect();
    format!("{}×10{raised}", mantissa.replace('-', "−"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the paper's Tables 8 to 10 (Appendices D and E), printed as there.
    #[test]
    fn losses_print_as_in_the_paper() {
        for (value, printed) in [
            (0.137515, "0.137515"),
            (7.65e-5, "7.65×10⁻⁵"),
            (0.000110, "0.000110"),
            (4.43e17, "4.43×10¹⁷"),
            (8.23e6, "8.23×10⁶"),
            (1.61562, "1.615620"),
        ] {
            assert_eq!(loss(value), printed);
        }
    }

    #[test]
    fn the_edges_of_the_two_forms() {
        assert_eq!(loss(1e-4), "0.000100");
        assert_eq!(loss(9.999e-5), "1.00×10⁻⁴");
        assert_eq!(loss(999_999.9), "999999.900000");
        assert_eq!(loss(1e6), "1.00×10⁶");
        assert_eq!(loss(0.0), "0.000000");
        assert_eq!(loss(f64::INFINITY), "inf");
        assert_eq!(loss(f64::NEG_INFINITY), "−inf");
        assert_eq!(loss(f64::NAN), "NaN");
        assert_eq!(loss(1e-300), "1.00×10⁻³⁰⁰");
    }

    #[test]
    fn shares_counts_and_differences() {
        assert_eq!(percent(0.26824), "26.82");
        assert_eq!(percent(1.0), "100.00");
        assert_eq!(percent(f64::NAN), "NaN");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(millions(3_128_150), "3.13");
        assert_eq!(mean(655, 2), Some((327.5, "327.5".into())));
        assert_eq!(mean(1, 3).map(|(_, text)| text), Some("0.33".into()));
        assert_eq!(mean(0, 0), None);
        assert_eq!(signed(0.012, percent), "+1.20");
        assert_eq!(signed(-0.012, percent), "−1.20");
        assert_eq!(signed(-0.00001, percent), "0.00");
        assert_eq!(signed(0.00001, percent), "0.00");
        assert_eq!(signed(-7.65e-5, loss), "−7.65×10⁻⁵");
        assert_eq!(signed(f64::INFINITY, loss), "+inf");
        assert_eq!(signed(f64::NAN, loss), "NaN");
    }

    #[test]
    fn numbers_for_machines() {
        for (value, text) in [
            (0.1 + 0.2, "0.3"),
            (2.0 / 3.0, "0.666666666667"),
            (3.0, "3"),
            (9_007_199_254_740_991.0, "9007199254740991"),
            (7.65e-5, "7.65e-5"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(plain(value), text);
        }
    }
}
