//! Exit codes: what a script can rely on.

/// How `cwm` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitCode(pub u8);

impl ExitCode {
    /// All that was asked for is done.
    pub const OK: ExitCode = ExitCode(0);
    /// At least one stage failed; what does not depend on it was done.
    pub const STAGE_FAILED: ExitCode = ExitCode(1);
    /// The command line is wrong, or names something that is not there.
    pub const USAGE: ExitCode = ExitCode(2);
    /// The pipeline file or a `--set` is wrong; nothing was run.
    pub const PIPELINE: ExitCode = ExitCode(3);
    /// The store cannot be used as asked: read-only, full, damaged, of a newer format.
    pub const STORE: ExitCode = ExitCode(4);
    /// `verify` found damaged or missing objects.
    pub const DAMAGED: ExitCode = ExitCode(5);
    /// `parity` found a difference beyond what is allowed, or a file that cannot be compared.
    pub const DISPARITY: ExitCode = ExitCode(6);
    /// `diff` found a difference.
    pub const DIFFERENT: ExitCode = ExitCode(7);
    /// `run --check` found that a stage makes other bytes than those that are recorded.
    pub const IRREPRODUCIBLE: ExitCode = ExitCode(8);
    /// The machine refused something, or a mistake in cwm.
    pub const INTERNAL: ExitCode = ExitCode(70);
    /// Stopped by Ctrl-C or SIGTERM.
    pub const INTERRUPTED: ExitCode = ExitCode(130);
}
