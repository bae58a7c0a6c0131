//! Amounts of bytes as people write and read them.

use crate::Value;

/// Bytes: an integer from 1, or a number with a unit (`500MB`, `1.5 GiB`), up to 2^60. kB, MB, GB and TB are powers of
/// 1000; KiB, MiB, GiB, TiB and bare K, M, G, T powers of 1024.
pub fn parse_bytes(value: &Value) -> Option<u64> {
    let text = match value {
        Value::Int(bytes) => return u64::try_from(*bytes).ok().filter(|bytes| (1..=1 << 60).contains(bytes)),
        Value::Text(text) => text,
        _ => return None,
    };
    let unit = text.find(|c: char| c.is_ascii_alphabetic())?;
    let number: f64 = text[..unit].trim().parse().ok()?;
    let factor: u64 = match text[unit..].trim_end().to_ascii_lowercase().as_str() {
        "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        "kib" | "k" => 1 << 10,
        "mib" | "m" => 1 << 20,
        "gib" | "g" => 1 << 30,
        "tib" | "t" => 1 << 40,
        _ => return None,
    };
    let bytes = number * factor as f64;
    (bytes >= 1.0 && bytes <= (1u64 << 60) as f64).then_some(bytes as u64)
}

/// `812 B`, `3.4 kB`, `1.2 MB`, `5.0 GB` (powers of 1000).
pub fn format_bytes(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        if value < 1000.0 {
            return if unit == "B" { format!("{bytes} B") } else { format!("{value:.1} {unit}") };
        }
        value /= 1000.0;
    }
    format!("{value:.1} TB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_read_well() {
        let words = [999, 1000, 1_500_000, 2_000_000_000_000].map(format_bytes);
        assert_eq!(words, ["999 B", "1.0 kB", "1.5 MB", "2.0 TB"]);
    }

    #[test]
    fn amounts_with_and_without_units() {
        let read = |text: &str| parse_bytes(&Value::Text(text.into()));
        assert_eq!(read("4GiB"), Some(4 << 30));
        assert_eq!(read("1.5 MB"), Some(1_500_000));
        assert_eq!(read("512m"), Some(512 << 20));
        assert_eq!(parse_bytes(&Value::Int(1024)), Some(1024));
        for wrong in ["", "4", "GiB", "-1GB", "4XB", "nanGB", "1e400GB", "0b"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert_eq!(parse_bytes(&Value::Int(0)), None);
    }
}
