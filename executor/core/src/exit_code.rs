//! Exit codes, which a script can rely on (docs/exit-codes.md).

/// An exit code of `cwm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitCode(pub u8);

/// Declares the codes, and the list of them that people are shown.
macro_rules! exit_codes {
    ($( #[doc = $meaning:literal] $name:ident = $code:literal; )*) => {
        impl ExitCode {
            $( #[doc = $meaning] pub const $name: ExitCode = ExitCode($code); )*

            /// Every code with its meaning, in ascending order.
            pub const ALL: &[(ExitCode, &str)] = &[$( (ExitCode($code), $meaning) ),*];
        }
    };
}

exit_codes! {
    /// Everything is done.
    OK = 0;
    /// At least one stage failed; stages that do not depend on it are done.
    STAGE_FAILED = 1;
    /// The command line is wrong: an unknown option, a stage, cell or file that does not exist or was evicted, or a folder for `cwm export` that has other files.
    USAGE = 2;
    /// The pipeline file, `cwm.toml`, `sources.lock` or the value of a `--set` is wrong, or a folder of `export:` has other files; nothing ran.
    PIPELINE = 3;
    /// The store cannot be used: read-only, full, damaged or of a newer format; or the store that `cwm store ls`, `du`, `gc` or `verify` names does not exist.
    STORE = 4;
    /// `store verify` found damaged or missing objects.
    DAMAGED = 5;
    /// `model parity` found a difference beyond the tolerance, or a file that cannot be compared.
    DISPARITY = 6;
    /// `diff` found a difference.
    DIFFERENT = 7;
    /// `run --check` found that a stage does not reproduce its recorded bytes.
    IRREPRODUCIBLE = 8;
    /// `push`, `pull` or `run --push`: a remote was not reached, or a transfer is incomplete.
    REMOTE = 9;
    /// `accept --probed` did not accept everything: a probe differs or is missing.
    NOT_ACCEPTED = 10;
    /// The operating system refused something, or a bug in cwm.
    INTERNAL = 70;
    /// Stopped by Ctrl-C or SIGTERM.
    INTERRUPTED = 130;
}

impl ExitCode {
    /// Returns a line for each code, for the end of `cwm --help`.
    pub fn help() -> String {
        let lines = Self::ALL.iter().map(|(code, meaning)| format!("  {:>3}  {}", code.0, meaning.trim()));
        format!("Exit codes:\n{}", lines.collect::<Vec<_>>().join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_the_page_lists_them_all() {
        let codes: Vec<u8> = ExitCode::ALL.iter().map(|(code, _)| code.0).collect();
        assert!(codes.is_sorted_by(|a, b| a < b), "{codes:?}");
        let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let page = std::fs::read_to_string(root.join("docs/exit-codes.md")).expect("docs/exit-codes.md");
        let listed: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
        let expected = ExitCode::ALL.iter().map(|(code, meaning)| format!("| `{}` | {} |", code.0, meaning.trim()));
        assert_eq!(listed, expected.collect::<Vec<_>>(), "docs/exit-codes.md");
    }
}
