//! The command line of cwm.

use std::io::Write;

use clap::CommandFactory;
use cwm_core::ExitCode;

/// Training allocates and frees megabytes at every step; this allocator keeps their pages (15 to 40 % less CPU a step).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ! {
    if std::env::var_os(cwm::cli::ASKED_BY).is_some() {
        clap_complete::CompleteEnv::with_factory(cwm::cli::Cli::command).var(cwm::cli::ASKED_BY).complete();
    }
    leave(cwm::dispatch::main(cwm::cli::Cli::read()))
}

/// Ends the process. Not by returning: the allocator would then hand back its memory piece by piece, which the system takes
/// back faster all at once.
fn leave(code: ExitCode) -> ! {
    // Whoever writes what must arrive has looked whether it did.
    let _ = std::io::stdout().flush();
    // SAFETY: nothing is registered to be done at the end of this process.
    unsafe { libc::_exit(code.0.into()) }
}
