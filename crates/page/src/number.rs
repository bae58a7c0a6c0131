//! Prints numbers.

/// A fraction as a percentage with 2 decimals, without the sign %.
pub fn percent(fraction: f64) -> String {
    two_decimals(fraction * 100.0)
}

/// Formats `value` with 2 decimals.
pub fn two_decimals(value: f64) -> String {
    decimals(value, 2)
}

/// Formats `value` with this number of decimals.
pub fn decimals(value: f64, number: usize) -> String {
    if value.is_finite() { format!("{value:.number$}").replace('-', "−") } else { not_finite(value) }
}

/// A count, its thousands apart.
pub fn count(number: u64) -> String {
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

/// A count with its noun: `1 game`, `2,000 games`.
pub fn plural(number: usize, one: &str) -> String {
    format!("{} {one}{}", count(number as u64), if number == 1 { "" } else { "s" })
}

/// A difference of counts, its thousands apart.
pub fn whole(value: f64) -> String {
    format!("{}{}", if value < 0.0 { "−" } else { "" }, count(value.abs() as u64))
}

/// A mean over `number` things and its text, with 1 decimal, 2 below ten; `None` if `number` is 0.
pub fn mean(sum: u64, number: u64) -> Option<(f64, String)> {
    let value = sum as f64 / number as f64;
    let text = if value < 10.0 { format!("{value:.2}") } else { format!("{value:.1}") };
    (number > 0).then_some((value, text))
}

/// A number and its sign, printed by `print`; without a sign where it prints as zero.
pub fn signed(value: f64, print: fn(f64) -> String) -> String {
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
pub fn plain(value: f64) -> String {
    match value {
        nan if nan.is_nan() => "nan".to_owned(),
        f64::INFINITY => "inf".to_owned(),
        f64::NEG_INFINITY => "-inf".to_owned(),
        finite => {
            // `{:?}` is the shortest text that reads back as the same number.
            let text = format!("{:?}", rounded(finite));
            text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
        }
    }
}

/// A number without the noise of binary fractions: 12 significant digits, whole numbers as they are.
pub fn rounded(value: f64) -> f64 {
    if value.fract() == 0.0 { value } else { format!("{value:.11e}").parse().unwrap_or(value) }
}

/// A number of a paper with its own digits; a power of ten such as `7.65e-5` is set as by [`power_of_ten`].
pub fn printed(text: &str) -> String {
    match text.split_once('e') {
        Some((mantissa, exponent)) => times_power_of_ten(mantissa, exponent),
        None => text.replace('-', "−"),
    }
}

/// A hyper-parameter, with all its digits and no more.
pub fn setting(value: f64) -> String {
    plain(value).replace('-', "−")
}

fn not_finite(value: f64) -> String {
    match value {
        f64::INFINITY => "inf".to_owned(),
        f64::NEG_INFINITY => "−inf".to_owned(),
        _ => "NaN".to_owned(),
    }
}

/// Three digits and a power of ten: `7.65×10⁻⁵`.
pub fn power_of_ten(value: f64) -> String {
    if !value.is_finite() {
        return not_finite(value);
    }
    let text = format!("{value:.2e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    times_power_of_ten(mantissa, exponent)
}

fn times_power_of_ten(mantissa: &str, exponent: &str) -> String {
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

    #[test]
    fn powers_of_ten_have_three_digits() {
        for (value, text) in [
            (7.65e-5, "7.65×10⁻⁵"),
            (-4.4321e17, "−4.43×10¹⁷"),
            (9.999e-5, "1.00×10⁻⁴"),
            (1e-300, "1.00×10⁻³⁰⁰"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(power_of_ten(value), text);
        }
    }

    #[test]
    fn shares_counts_and_differences() {
        assert_eq!(percent(0.26824), "26.82");
        assert_eq!(percent(1.0), "100.00");
        assert_eq!(percent(f64::NAN), "NaN");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!((two_decimals(-3.128), decimals(98.61394, 4)), ("−3.13".into(), "98.6139".into()));
        assert_eq!(decimals(f64::NEG_INFINITY, 3), "−inf");
        assert_eq!((whole(-9_995_019.0), signed(1_968.0, whole)), ("−9,995,019".into(), "+1,968".into()));
        assert_eq!((printed("1.14e-4"), printed("0.00")), ("1.14×10⁻⁴".into(), "0.00".into()));
        assert_eq!(
            (setting(3e-4), setting(5000.0), setting(0.1 - 0.01)),
            ("0.0003".into(), "5000".into(), "0.09".into())
        );
        assert_eq!(mean(655, 2), Some((327.5, "327.5".into())));
        assert_eq!(mean(1, 3).map(|(_, text)| text), Some("0.33".into()));
        assert_eq!(mean(0, 0), None);
        assert_eq!(signed(0.012, percent), "+1.20");
        assert_eq!(signed(-0.012, percent), "−1.20");
        assert_eq!(signed(-0.00001, percent), "0.00");
        assert_eq!(signed(0.00001, percent), "0.00");
        assert_eq!(signed(-7.65e-5, power_of_ten), "−7.65×10⁻⁵");
        assert_eq!(signed(f64::INFINITY, percent), "+inf");
        assert_eq!(signed(f64::NAN, percent), "NaN");
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
