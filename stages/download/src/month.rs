//! A month of the Lichess database.

/// A month since January 2013, with which the database begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Month {
    year: u16,
    month: u8,
}

impl Month {
    /// Reads `2025-03`.
    ///
    /// # Errors
    /// The fault, as a phrase that fits after `parameter x`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("must be a year and a month, such as 2025-03, not `{text}`");
        let (year, month) = text.trim().split_once('-').ok_or_else(wrong)?;
        let digits = |part: &str, length: usize| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(year, 4) || !digits(month, 2) {
            return Err(wrong());
        }
        let (year, month) = (year.parse().map_err(|_| wrong())?, month.parse().map_err(|_| wrong())?);
        match (year, month) {
            (_, 1..=12) if year >= 2013 => Ok(Month { year, month }),
            (_, 1..=12) => Err(format!("must be 2013-01 or later, with which the database begins, not `{text}`")),
            _ => Err(wrong()),
        }
    }

    /// The name of the month's file of standard rated games.
    pub fn file_name(self) -> String {
        format!("lichess_db_standard_rated_{:04}-{:02}.pgn.zst", self.year, self.month)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_names_its_file() {
        assert_eq!(Month::parse("2025-03").unwrap().file_name(), "lichess_db_standard_rated_2025-03.pgn.zst");
        for wrong in ["2025", "2025-3", "25-03", "2025-00", "2025-13", "2012-12", "2025-03-01", "٢٠٢٥-٠٣", ""] {
            assert!(Month::parse(wrong).is_err(), "{wrong}");
        }
    }
}
