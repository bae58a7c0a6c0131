//! The forms in which the paper prints numbers in its tables.

use cwm_page::{MeanStd, TableCell, number};

/// A loss: 6 decimals, or three digits and a power of ten below 1e-4 and from 1e6.
pub(crate) fn loss(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 || (1e-4..1e6).contains(&magnitude) {
        number::decimals(value, 6)
    } else {
        number::power_of_ten(value)
    }
}

/// Millions of parameters, with 2 decimals.
pub(crate) fn millions(number: u64) -> String {
    number::two_decimals(number as f64 / 1e6)
}

/// Formats with 3 decimals, as exact state in Table 6.
pub(crate) fn three_decimals(value: f64) -> String {
    number::decimals(value, 3)
}

/// Formats with 4 decimals, as labelwise accuracy in Table 6.
pub(crate) fn four_decimals(value: f64) -> String {
    number::decimals(value, 4)
}

/// A loss, with its deviation over several runs or the interval of a single one.
pub(crate) fn loss_cell(over_runs: MeanStd) -> TableCell {
    TableCell::mean_std(over_runs, loss, 1.0)
}

/// A fraction in percent, with its deviation over several runs or the interval of a single one.
pub(crate) fn accuracy_cell(over_runs: MeanStd) -> TableCell {
    TableCell::mean_std(over_runs, number::percent, 100.0)
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
    fn percentages_and_parameters() {
        assert_eq!(millions(3_128_150), "3.13");
        assert_eq!(four_decimals(98.61394), "98.6139");
        assert_eq!((three_decimals(99.8765), three_decimals(f64::NAN)), ("99.876".into(), "NaN".into()));
        assert_eq!(number::signed(-7.65e-5, loss), "−7.65×10⁻⁵");
        assert_eq!(number::signed(f64::INFINITY, loss), "+inf");
        assert_eq!(number::signed(f64::NAN, loss), "NaN");
    }
}
