//! Times as people write them: `90s`, `1h30m`.

use std::time::Duration;

use cwm_contract::Value;

use super::node::Node;

/// What a time may look like, for messages.
pub const DURATION: &str = "a time such as `90s`, `10m` or `1h30m`";

/// A time from a millisecond to a thousand days: whole seconds, or numbers with units, the larger ones first.
pub fn duration(node: &Node) -> Option<Duration> {
    const LONGEST: f64 = 1000.0 * 86_400.0;
    let seconds = match node.scalar()? {
        Value::Int(seconds) => *seconds as f64,
        Value::Text(text) => seconds(text)?,
        _ => return None,
    };
    (0.001..=LONGEST).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}

fn seconds(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 5] = [("d", 86_400.0), ("h", 3600.0), ("m", 60.0), ("s", 1.0), ("ms", 0.001)];
    let mut total = 0.0;
    let mut smaller = &UNITS[..];
    let mut rest = text.trim();
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        let after = rest[digits..].trim_start();
        let end = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let at = smaller.iter().position(|(unit, _)| *unit == &after[..end])?;
        total += number * smaller[at].1;
        smaller = &smaller[at + 1..];
        rest = after[end..].trim_start();
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, expected) in [
            ("10s", 10.0),
            ("1.5m", 90.0),
            ("1h30m", 5400.0),
            ("1h 30m", 5400.0),
            ("2 d", 172_800.0),
            ("250ms", 0.25),
            ("1s500ms", 1.5),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for wrong in ["s", "10", "10x", "30m1h", "1m1m", "-1s", "1.2.3s", "1h30", "ten s"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }
}
