//! Spans of time as people type them.

use std::str::FromStr;

use jiff::{SignedDuration, Timestamp};

/// A span of time: `30d`, `12h`, `2w`, `0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Age(SignedDuration);

impl Age {
    /// So many days.
    pub const fn days(days: i64) -> Age {
        Age(SignedDuration::from_hours(24 * days))
    }

    /// The instant so long before `now`; the beginning of time if there is none.
    pub fn before(self, now: Timestamp) -> Timestamp {
        now.checked_sub(self.0).unwrap_or(Timestamp::MIN)
    }
}

impl FromStr for Age {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a span of time such as 30d, 12h, 2w or 90min");
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (count, unit) = (&text[..digits], text[digits..].trim());
        let seconds: i64 = match unit {
            "" if count == "0" => 0,
            "min" => 60,
            "h" => 60 * 60,
            "d" => 24 * 60 * 60,
            "w" => 7 * 24 * 60 * 60,
            _ => return Err(wrong()),
        };
        let count: i64 = count.parse().map_err(|_| wrong())?;
        let seconds = count.checked_mul(seconds).filter(|seconds| *seconds < 10_000 * 365 * 24 * 60 * 60);
        Ok(Age(SignedDuration::from_secs(seconds.ok_or_else(wrong)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_or_refused_in_words() {
        assert_eq!("30d".parse(), Ok(Age::days(30)));
        assert_eq!("2w".parse(), Ok(Age::days(14)));
        assert_eq!("48h".parse(), Ok(Age::days(2)));
        assert_eq!("0".parse(), Ok(Age::days(0)));
        for wrong in ["", "d", "30", "-1d", "1.5d", "30days", "99999999999999999999d", "9223372036854775807w"] {
            assert!(wrong.parse::<Age>().unwrap_err().contains("30d"), "{wrong}");
        }
        assert_eq!(Age::days(1).before(Timestamp::MIN), Timestamp::MIN);
    }
}
