//! Measures the memory of this process that is pages of files.

/// Bytes of files that are mapped and in memory; 0 where the system does not report it (it is Linux that does).
pub fn file_bytes() -> u64 {
    std::fs::read_to_string("/proc/self/status").ok().and_then(|status| parse(&status)).unwrap_or(0)
}

/// The line `RssFile:     1234 kB`.
fn parse(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("RssFile:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_words_are_read() {
        assert_eq!(parse("VmRSS:\t  90 kB\nRssAnon:\t 1 kB\nRssFile:\t   78564 kB\n"), Some(78_564 * 1024));
        assert_eq!(parse("VmRSS:\t  90 kB\n"), None);
        assert_eq!(parse("RssFile:\t many\n"), None);
        if cfg!(target_os = "linux") {
            assert!(file_bytes() > 0, "this very program is a file");
        }
    }
}
