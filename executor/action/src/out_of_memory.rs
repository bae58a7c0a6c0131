//! Recognises a lack of memory in logs.

use std::path::Path;

use super::log_tail::read_log_tail;

/// The advice for a lack of memory.
pub const HINT: &str = "give it more memory, declare its `needs: { memory: … }`, or use fewer `--jobs`";

/// The length of the end of a log that is searched, in bytes.
pub const TAIL: u64 = 16 * 1024;

/// Returns the last line near the end of a log, from byte `from` on, in which a program reports a lack of memory.
pub fn find_in_log(log: &Path, from: u64) -> Option<String> {
    find(&read_log_tail(log, from, TAIL).ok()?)
}

/// Returns the last line in which a program reports a lack of memory.
pub fn find(text: &str) -> Option<String> {
    text.lines().rev().find(|line| is_reported_in(line)).map(|line| line.trim().chars().take(200).collect())
}

/// Returns true if a line reports a lack of memory, as Rust, C++, Python, Java, the C library and CUDA do.
pub fn is_reported_in(line: &str) -> bool {
    let whole = ["std::bad_alloc", "MemoryError", "OutOfMemoryError", "Cannot allocate memory", "out of memory"];
    let rust = line.contains("memory allocation of ") && line.contains(" bytes failed");
    rust || whole.iter().any(|error| line.contains(error)) || line.contains("Out of memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_report_a_lack_of_memory_are_recognised() {
        for line in [
            "memory allocation of 8589934592 bytes failed",
            "terminate called after throwing an instance of 'std::bad_alloc'",
            "MemoryError",
            "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 8.00 GiB: MemoryError",
            "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
            "java.lang.OutOfMemoryError: Java heap space",
            "sort: fork: Cannot allocate memory",
        ] {
            assert!(is_reported_in(line), "{line}");
        }
        for line in ["memory allocation of the cells", "assertion failed", "no memory of it", ""] {
            assert!(!is_reported_in(line), "{line}");
        }
    }

    #[test]
    fn only_this_attempts_lines_count() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        std::fs::write(&log, "MemoryError\nsecond attempt\n").unwrap();
        assert_eq!(find_in_log(&log, 0).as_deref(), Some("MemoryError"));
        assert_eq!(find_in_log(&log, 12), None);
        assert_eq!(find_in_log(&folder.path().join("none"), 0), None);
    }
}
