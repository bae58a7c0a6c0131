//! Points and spans of time, as people write and read them.

use std::time::Duration;

use jiff::fmt::friendly::{Spacing, SpanPrinter};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};

/// Formats a point in time in the local time zone: `2026-11-20 18:02`.
pub fn format_time(time: Timestamp) -> String {
    time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// Formats seconds as `0.4s`, `12s`, `3m05s`, `2h07m`: two figures that matter, which jiff's printer has no setting for.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        _ if seconds < 9.95 => format!("{seconds:.1}s"),
        ..=59 => format!("{whole}s"),
        60..=3599 => format!("{}m{:02}s", whole / 60, whole % 60),
        _ => format!("{}h{:02}m", whole / 3600, whole % 3600 / 60),
    }
}

/// Formats a duration as `2h`, `1m30s`, `1s500ms`, as [`parse_duration`] reads it.
pub fn exact_duration(time: Duration) -> String {
    let time = SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX);
    SpanPrinter::new().spacing(Spacing::None).duration_to_string(&time)
}

/// Reads `90s`, `1h30m`, `1.5 h`, `2 days`, `2w`: numbers with units, the larger ones first; a day has 24 hours. Nothing if it is
/// something else, negative or too long.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    // jiff reads no fractions of days.
    if let Some(days) = text.strip_suffix('d').and_then(|days| days.trim_end().parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(days * 86_400.0).ok();
    }
    let time = text.parse::<Span>().ok()?.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    Duration::try_from(time).ok()
}

/// Reads the time of a setting, from a millisecond to a thousand days: whole seconds, or as [`parse_duration`] reads it.
pub fn parse_setting_duration(text: &str) -> Option<Duration> {
    let seconds = text.parse().ok().map(Duration::from_secs);
    let limits = Duration::from_millis(1)..=Duration::from_secs(1000 * 86_400);
    seconds.or_else(|| parse_duration(text)).filter(|time| limits.contains(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, seconds) in [
            ("10s", 10.0),
            ("1.5m", 90.0),
            ("1h30m", 5400.0),
            ("1h 30m", 5400.0),
            ("2 d", 172_800.0),
            ("1.5d", 129_600.0),
            ("1d12h", 129_600.0),
            ("2w", 1_209_600.0),
            ("90min", 5400.0),
            ("3 days", 259_200.0),
            ("250ms", 0.25),
            ("1s500ms", 1.5),
        ] {
            assert_eq!(parse_duration(text), Some(Duration::from_secs_f64(seconds)), "{text}");
        }
        for wrong in [
            "",
            "s",
            "d",
            "10",
            "10x",
            "30m1h",
            "1m1m",
            "-1s",
            "-1d",
            "1h ago",
            "infd",
            "1.2.3s",
            "1h30",
            "ten s",
            "1mo",
            "1e300d",
            "99999999999999999999h",
        ] {
            assert_eq!(parse_duration(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_printed_is_read_again() {
        let times = [7200, 5400, 90, 1, 86_400].map(Duration::from_secs);
        assert_eq!(times.map(exact_duration), ["2h", "1h30m", "1m30s", "1s", "24h"]);
        assert_eq!(exact_duration(Duration::from_millis(1500)), "1s500ms");
        for time in times {
            assert_eq!(parse_duration(&exact_duration(time)), Some(time));
        }
        let shown = [0.04, 9.94, 59.4, 60.0, 3599.0, 3600.0].map(duration);
        assert_eq!(shown, ["0.0s", "9.9s", "59s", "1m00s", "59m59s", "1h00m"]);
    }
}
