//! The memory of this process that is pages of files.

/// Bytes of files that reading examples may add to what is resident; beyond, their pages are released.
const RESIDENT: u64 = 128 << 20;

/// Watches the pages of mapped files. The system counts mapped pages that were touched as this process's memory until it needs
/// them for others, so an epoch would count the whole data set.
#[derive(Debug)]
pub struct MappedPages {
    /// Bytes of files that were resident when the data set last had none.
    before: u64,
}

impl MappedPages {
    /// Starts to watch, before the data set is opened.
    pub fn watch() -> Self {
        MappedPages { before: file_bytes() }
    }

    /// Calls `release`, which releases the pages of the data set, once many were read. Nothing is lost: what the system has of
    /// the files stays in its cache.
    pub fn release(&mut self, release: impl FnOnce()) {
        if file_bytes() > self.before.saturating_add(RESIDENT) {
            release();
            // What else of files is resident by now, such as this program, is not the data set's.
            self.before = file_bytes();
        }
    }
}

/// Bytes of files that are mapped and in memory; 0 where the system does not report it (it is Linux that does).
fn file_bytes() -> u64 {
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
