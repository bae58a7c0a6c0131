//! Spans of time as people type them.

use std::str::FromStr;
use std::time::Duration;

use jiff::Timestamp;

use cwm_core::text::parse_duration;

/// A span of time: `30d`, `12h`, `2w`, `0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Age(Duration);

impl Age {
    /// So many days.
    pub const fn days(days: u64) -> Age {
        Age(Duration::from_secs(days * 86_400))
    }

    /// The instant so long before `now`; the beginning of time if there is none.
    pub fn before(self, now: Timestamp) -> Timestamp {
        now.checked_sub(self.0).unwrap_or(Timestamp::MIN)
    }
}

impl FromStr for Age {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let span = match text {
            "0" => Some(Duration::ZERO),
            text => parse_duration(text),
        };
        span.map(Age).ok_or_else(|| format!("`{text}` is not a span of time such as 30d, 12h, 2w or 90min"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_or_refused_in_words() {
        assert_eq!("30d".parse(), Ok(Age::days(30)));
        assert_eq!("2w".parse(), Ok(Age::days(14)));
        assert_eq!("30 days".parse(), Ok(Age::days(30)));
        assert_eq!("48h".parse(), Ok(Age::days(2)));
        assert_eq!("0".parse(), Ok(Age::days(0)));
        for wrong in ["", "d", "30", "-1d", "99999999999999999999d", "9223372036854775807w"] {
            assert!(wrong.parse::<Age>().unwrap_err().contains("30d"), "{wrong}");
        }
        assert_eq!(Age::days(1).before(Timestamp::MIN), Timestamp::MIN);
    }
}
