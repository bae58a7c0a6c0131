//! Spans of time, as people type them.

use std::time::Duration;

use jiff::Timestamp;

use cwm_core::parse_duration;

/// Returns the duration of so many days.
pub const fn days(days: u64) -> Duration {
    Duration::from_secs(days * 86_400)
}

/// Returns the instant so long before `now`; the beginning of time if there is none.
pub fn time_before(now: Timestamp, span: Duration) -> Timestamp {
    now.checked_sub(span).unwrap_or(Timestamp::MIN)
}

/// Reads a span of time: `30d`, `12h`, `2w`, `0`.
///
/// # Errors
/// It is something else.
pub fn parse_time_span(text: &str) -> Result<Duration, String> {
    let span = if text == "0" { Some(Duration::ZERO) } else { parse_duration(text) };
    span.ok_or_else(|| format!("`{text}` is not a span of time such as 30d, 12h, 2w or 90min"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_or_refused_in_words() {
        assert_eq!(parse_time_span("30d"), Ok(days(30)));
        assert_eq!(parse_time_span("2w"), Ok(days(14)));
        assert_eq!(parse_time_span("30 days"), Ok(days(30)));
        assert_eq!(parse_time_span("48h"), Ok(days(2)));
        assert_eq!(parse_time_span("0"), Ok(days(0)));
        for wrong in ["", "d", "30", "-1d", "99999999999999999999d", "9223372036854775807w"] {
            assert!(parse_time_span(wrong).unwrap_err().contains("30d"), "{wrong}");
        }
        assert_eq!(time_before(Timestamp::MIN, days(1)), Timestamp::MIN);
    }
}
