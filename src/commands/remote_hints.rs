//! Hints below what `status` and `why` print.

use cwm_engine::Cause;

use crate::output::print_note;
use crate::workspace::Workspace;

/// Prints that a run of these cells cannot start if files of theirs are missing or unreadable, and how to fetch results that the
/// lock file names and that are not in the store.
pub fn print_hints<'c>(workspace: &Workspace, cells: &[usize], mut causes: impl Iterator<Item = &'c Cause>) {
    let plan = &workspace.plan;
    if !plan.missing_files(&plan.ancestors(cells)).is_empty() {
        print_note("hint: files that these read are missing or unreadable: `cwm run` begins only when all can be read");
    }
    let is_locked = |cause: &Cause| matches!(cause, Cause::RecordMissing { same: Some(true) | None });
    if !workspace.config.remotes.is_empty() && causes.any(is_locked) {
        print_note("hint: the remotes may have what the lock file names: `cwm run --pull` or `cwm pull` fetches it");
    }
}
