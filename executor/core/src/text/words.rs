//! Numbers as people say them.

use std::path::Path;

/// `1 game`, `2 games`.
pub fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// `0.4s`, `12s`, `3m05s`, `2h07m`.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        _ if seconds < 9.95 => format!("{seconds:.1}s"),
        ..=59 => format!("{whole}s"),
        60..=3599 => format!("{}m{:02}s", whole / 60, whole % 60),
        _ => format!("{}h{:02}m", whole / 3600, whole % 3600 / 60),
    }
}

/// The path relative to the current folder where that is shorter, else as it is.
pub fn short_path(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let relative = here.as_deref().and_then(|here| path.strip_prefix(here).ok());
    match relative {
        Some(relative) if relative.as_os_str().is_empty() => ".".into(),
        Some(relative) => relative.display().to_string(),
        None => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(plural(1, "game", "games"), "1 game");
        assert_eq!(plural(2, "game", "games"), "2 games");
        let durations = [0.04, 9.94, 59.4, 60.0, 3599.0, 3600.0].map(duration);
        assert_eq!(durations, ["0.0s", "9.9s", "59s", "1m00s", "59m59s", "1h00m"]);
    }
}
